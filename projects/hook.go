package projects
