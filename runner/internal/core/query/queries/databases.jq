# Databases that are open to the Internet, not encrypted, or not protected from deletion.
def missing:
  [ (select(.publiclyAccessible == true) | "public"),
    (select(.storageEncrypted != true) | "not encrypted"),
    (select(.deletionProtection != true) | "no deletion protection"),
    (select(.backupRetentionPeriod? == 0) | "no backups") ];
def ports: {"3306": "mysql", "5432": "postgres", "27017": "mongodb", "6379": "redis", "9200": "opensearch"};
( .items[] | select(.source == "state" and (.type | test("^aws:(rds/(instance:Instance|cluster:Cluster)|docdb/cluster:Cluster|neptune/cluster:Cluster)$")))
  | {environment, where: place, name, engine: (.outputs.engine? // ""), problems: (.outputs | missing)} ),
( kind("Service") | select(.object.spec.type == "LoadBalancer" or .object.spec.type == "NodePort")
  | ([.object.spec.ports[]? | ports[.port | tostring] | strings][0]) as $engine | select($engine)
  | {environment, where: place, name, engine: $engine, problems: ["Service of type \(.object.spec.type)"]} )
| select(.problems | length > 0)
| {environment, where, name, engine, problems}
