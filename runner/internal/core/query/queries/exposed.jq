# Pods that the Internet reaches through a Service of type LoadBalancer, or through an Ingress behind one.
# reads: live
# kinds: services, ingresses.networking.k8s.io, endpointslices.discovery.k8s.io

# The Pods behind a Service, as its EndpointSlices name them.
def pods($slices):
  . as $service
  | $slices["\(.environment)/\(.namespace)/\(.name)"][]?
  | .object.endpoints[]? | .targetRef? | objects | select(.kind == "Pod") | .name;

# Whether a load balancer is only for a private network.
def internal:
  (.metadata.annotations // {}) as $a
  | $a["service.beta.kubernetes.io/aws-load-balancer-scheme"] == "internal"
    or $a["service.beta.kubernetes.io/aws-load-balancer-internal"] == "true"
    or $a["service.beta.kubernetes.io/azure-load-balancer-internal"] == "true"
    or $a["networking.gke.io/load-balancer-type"] == "Internal"
    or ([.status.loadBalancer.ingress[]?.ip | strings] | length > 0 and all(private));

def addresses: [.object.status.loadBalancer.ingress[]? | (.ip, .hostname) | strings];

def open: (.spec.loadBalancerSourceRanges // []) | length == 0 or any(. == "0.0.0.0/0" or . == "::/0");

([kind("EndpointSlice") | select(.object.metadata.labels["kubernetes.io/service-name"]?)]
  | group_by([.environment, .namespace, .object.metadata.labels["kubernetes.io/service-name"]])
  | map({key: "\(.[0].environment)/\(.[0].namespace)/\(.[0].object.metadata.labels["kubernetes.io/service-name"])", value: .})
  | from_entries) as $slices
| [kind("Service") | select(.object.spec.type == "LoadBalancer" and (.object | open and (internal | not)))] as $entries
| ( ($entries[] | {environment, namespace, service: .name, via: "", address: addresses[0], pod: pods($slices)}),
    ( . as $all | $entries[] | addresses as $found | .environment as $environment | .name as $entry
      | $all | kind("Ingress") | select(.environment == $environment)
      | select(any(addresses[]; . as $address | $found | index([$address])))
      | .name as $ingress
      | {environment, namespace, address: $found[0], ingress: $ingress}
        + {service: ([.object.spec | (.defaultBackend?, (.rules[]?.http.paths[]?.backend)) | objects | .service.name | strings] | unique[])}
      | . as $route | {environment, namespace, name: .service}
      | {environment, namespace, service: .name, via: "Ingress \($route.ingress)", address: $route.address, pod: pods($slices)} ) )
| {environment, namespace, pod, service, via, address}
