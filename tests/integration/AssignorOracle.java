import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

/** Whom Kafka's own assignors give which partitions.
 *
 *  Arguments: a file of cases, and one to write; a JSON object a line. A case: "side" (client or broker), "assignor",
 *  "topics" (name -> {"partitions", "id"}), "members" ([{"id", "topics", "owned" ([[topic, partition]]), "generation",
 *  "instance"}]). For each one {member: [[topic, partition]]} is written, or {"error"}.
 */
public class AssignorOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Node NODE = new Node(1, "localhost", 9092);

    public static void main(String[] args) throws Exception {
        try (BufferedReader in = Files.newBufferedReader(Path.of(args[0]), StandardCharsets.UTF_8);
             BufferedWriter out = Files.newBufferedWriter(Path.of(args[1]), StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode asked = JSON.readTree(line);
                ObjectNode told;
                try {
                    told = asked.get("side").asText().equals("client") ? client(asked) : broker(asked);
                } catch (RuntimeException error) {
                    told = JSON.createObjectNode();
                    told.put("error", error.toString());
                }
                out.write(told.toString());
                out.write('\n');
            }
        }
    }

    private static ObjectNode client(JsonNode asked) {
        List<PartitionInfo> partitions = new ArrayList<>();
        Node[] nodes = {NODE};
        asked.get("topics").fields().forEachRemaining(topic -> {
            for (int i = 0; i < topic.getValue().get("partitions").asInt(); i++)
                partitions.add(new PartitionInfo(topic.getKey(), i, NODE, nodes, nodes));
        });
        Cluster cluster = new Cluster("c", List.of(NODE), partitions, Set.of(), Set.of());
        String name = asked.get("assignor").asText();
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : asked.get("members")) {
            List<TopicPartition> owned = new ArrayList<>();
            for (JsonNode pair : member.get("owned"))
                owned.add(new TopicPartition(pair.get(0).asText(), pair.get(1).asInt()));
            Integer generation = member.get("generation").isNull() ? null : member.get("generation").asInt();
            ByteBuffer data = name.equals("sticky") ? userData(owned, generation) : null;
            Subscription subscription = new Subscription(names(member.get("topics")), data,
                name.equals("sticky") ? List.of() : owned, generation == null ? -1 : generation, Optional.empty());
            subscription.setGroupInstanceId(Optional.ofNullable(member.get("instance").textValue()));
            subscriptions.put(member.get("id").asText(), subscription);
        }
        ObjectNode told = JSON.createObjectNode();
        assignor(name).assign(cluster, new GroupSubscription(subscriptions)).groupAssignment().forEach((id, assignment) -> {
            ArrayNode pairs = told.putArray(id);
            assignment.partitions().forEach(each -> pairs.addArray().add(each.topic()).add(each.partition()));
        });
        return told;
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        switch (name) {
            case "range": return new org.apache.kafka.clients.consumer.RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            case "cooperative-sticky": return new CooperativeStickyAssignor();
            default: throw new IllegalArgumentException(name);
        }
    }

    /** As members of the sticky assignor write it: topics with partitions, and from Kafka 2.3 on the generation. */
    private static ByteBuffer userData(List<TopicPartition> owned, Integer generation) {
        Map<String, List<Integer>> topics = new LinkedHashMap<>();
        owned.forEach(each -> topics.computeIfAbsent(each.topic(), t -> new ArrayList<>()).add(each.partition()));
        ByteBuffer data = ByteBuffer.allocate(1 << 16);
        data.putInt(topics.size());
        topics.forEach((topic, partitions) -> {
            byte[] name = topic.getBytes(StandardCharsets.UTF_8);
            data.putShort((short) name.length).put(name).putInt(partitions.size());
            partitions.forEach(data::putInt);
        });
        if (generation != null)
            data.putInt(generation);
        return data.flip();
    }

    private static List<String> names(JsonNode list) {
        List<String> names = new ArrayList<>();
        list.forEach(each -> names.add(each.asText()));
        return names;
    }

    private static ObjectNode broker(JsonNode asked) {
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, String> topics = new HashMap<>();
        Map<Uuid, Integer> counts = new HashMap<>();
        asked.get("topics").fields().forEachRemaining(topic -> {
            Uuid id = Uuid.fromString(topic.getValue().get("id").asText());
            ids.put(topic.getKey(), id);
            topics.put(id, topic.getKey());
            counts.put(id, topic.getValue().get("partitions").asInt());
        });
        Map<String, Told> members = new HashMap<>();
        Set<List<Integer>> assigned = new HashSet<>();
        Map<Uuid, Set<Integer>> all = new HashMap<>();
        Set<Set<String>> subscriptions = new HashSet<>();
        for (JsonNode member : asked.get("members")) {
            Set<String> wanted = new HashSet<>(names(member.get("topics")));
            subscriptions.add(wanted);
            Set<Uuid> wantedIds = new LinkedHashSet<>(); // as the coordinator's own set walks: names by hash, then each one's id
            wanted.forEach(name -> { if (ids.containsKey(name)) wantedIds.add(ids.get(name)); });
            Map<Uuid, List<Integer>> held = new LinkedHashMap<>();
            for (JsonNode pair : member.get("owned"))
                held.computeIfAbsent(ids.get(pair.get(0).asText()), t -> new ArrayList<>()).add(pair.get(1).asInt());
            Map<Uuid, Set<Integer>> owned = new HashMap<>();
            held.forEach((id, partitions) -> {
                owned.put(id, new HashSet<>(partitions));
                all.computeIfAbsent(id, t -> new HashSet<>()).addAll(partitions);
            });
            members.put(member.get("id").asText(), new Told(
                Optional.ofNullable(member.get("instance").textValue()), wantedIds, Collections.unmodifiableMap(owned)));
        }
        PartitionAssignor assignor = asked.get("assignor").asText().equals("uniform")
            ? new UniformAssignor() : new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
        GroupAssignment made = assignor.assign(new Spec(members, subscriptions.size() > 1, all), new SubscribedTopicDescriber() {
            public int numPartitions(Uuid id) { return counts.getOrDefault(id, -1); }
            public Set<String> racksForPartition(Uuid id, int partition) { return Set.of(); }
        });
        ObjectNode told = JSON.createObjectNode();
        members.keySet().forEach(told::putArray);
        made.members().forEach((id, assignment) -> assignment.partitions().forEach((topic, partitions) -> partitions.forEach(
            each -> ((ArrayNode) told.get(id)).addArray().add(topics.get(topic)).add(each))));
        return told;
    }

    private record Told(Optional<String> instanceId, Set<Uuid> subscribedTopicIds, Map<Uuid, Set<Integer>> partitions)
        implements MemberSubscription, MemberAssignment {
        public Optional<String> rackId() { return Optional.empty(); }
    }

    private record Spec(Map<String, Told> members, boolean differ, Map<Uuid, Set<Integer>> assigned) implements GroupSpec {
        public Collection<String> memberIds() { return members.keySet(); }
        public SubscriptionType subscriptionType() {
            return differ ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        }
        public boolean isPartitionAssigned(Uuid id, int partition) {
            return assigned.getOrDefault(id, Set.of()).contains(partition);
        }
        public boolean isPartitionAssignable(Uuid id, int partition) { return true; }
        public MemberSubscription memberSubscription(String id) { return members.get(id); }
        public MemberAssignment memberAssignment(String id) { return members.get(id); }
    }
}
