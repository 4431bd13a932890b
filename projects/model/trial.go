package model

// Trial is the cheapest complete environment of a cloud, to try the runner there.
type Trial struct {
	Settings []Setting
	Costs    []Cost
}

// Setting is a configuration value of a trial.
type Setting struct {
	Key   string
	Value any
}

// Cost is the price of a part of a trial per hour, in US dollars, by the cloud's list
// prices.
type Cost struct {
	What    string
	PerHour float64
}

// Total returns the costs of all parts per hour.
func (t Trial) Total() float64 {
	sum := 0.0
	for _, cost := range t.Costs {
		sum += cost.PerHour
	}
	return sum
}
