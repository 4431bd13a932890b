package ahead

import (
	"context"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"mara/projects/monitor"
)

// foreseenMethods are what every engine asks the language host before it runs a program: which packages the program
// uses, and of which versions its tools are. A host runs npm, pip or go for that, which can take as long as the start of
// the program. So its answers are taken while the program waits.
func (s *stage) foreseenMethods() []grpc.MethodDesc {
	info := s.run.GetInfo()
	return []grpc.MethodDesc{
		foreseen(s, "GetRequiredPackages", &pulumirpc.GetRequiredPackagesRequest{Info: info},
			pulumirpc.LanguageRuntimeClient.GetRequiredPackages),
		foreseen(s, "About", &pulumirpc.AboutRequest{Info: info}, pulumirpc.LanguageRuntimeClient.About),
	}
}

// foreseen is a method whose answer to the expected request is asked for once, and holds until the program runs. A host
// that fails to answer fails for the engine, too.
func foreseen[Request, Response any, Message interface {
	*Request
	proto.Message
}](s *stage, name string, expected *Request,
	ask func(pulumirpc.LanguageRuntimeClient, context.Context, *Request, ...grpc.CallOption) (*Response, error),
) grpc.MethodDesc {
	early := sync.OnceValues(func() (*Response, error) { return ask(s.first, context.Background(), expected) })
	s.foreseen = append(s.foreseen, func() { _, _ = early() }) // an error is the engine's to see
	return monitor.Method(name, func(ctx context.Context, request *Request) (*Response, error) {
		if s.waits() && proto.Equal(Message(request), Message(expected)) {
			return early()
		}
		h, err := s.plainHost()
		if err != nil {
			return nil, err
		}
		return ask(h, ctx, request)
	})
}

// learn asks what is foreseen.
func (s *stage) learn() {
	for _, ask := range s.foreseen {
		ask()
	}
}
