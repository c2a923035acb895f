import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.MemberData;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.runtime.distributed.ConnectProtocol;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;
import org.apache.kafka.connect.runtime.distributed.ExtendedWorkerState;
import org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol;
import org.apache.kafka.connect.util.ConnectorTaskId;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.AssignmentInfo;
import org.apache.kafka.streams.processor.internals.assignment.SubscriptionInfo;
import org.apache.kafka.streams.state.HostInfo;

/** What Kafka's own classes read from what clients put into group metadata.
 *
 *  Arguments: a file of lines "kind base64", one to write, a number and a seed. As many random values of every kind are
 *  written by Kafka's classes besides. For each a line is written: {"kind", "bytes", and "told" or "error"}.
 */
public class EmbeddedOracle {
    static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    static Random random;

    static class Sticky extends StickyAssignor {
        MemberData read(ByteBuffer data) { return memberData(new Subscription(List.of(), data)); }
    }

    static class Cooperative extends CooperativeStickyAssignor {
        MemberData read(ByteBuffer data) { return memberData(new Subscription(List.of(), data)); }
    }

    public static void main(String[] args) throws Exception {
        random = new Random(Long.parseLong(args[3]));
        try (BufferedWriter out = Files.newBufferedWriter(Path.of(args[1]), StandardCharsets.UTF_8)) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                String[] words = line.split(" ");
                tell(out, words[0], Base64.getDecoder().decode(words.length > 1 ? words[1] : ""));
            }
            for (int count = Integer.parseInt(args[2]); count > 0; count--) {
                for (String kind : List.of("subscription", "assignment", "sticky", "cooperative", "connect-metadata",
                                           "connect-assignment", "streams-subscription", "streams-assignment")) {
                    byte[] whole = random(kind);
                    tell(out, kind, whole);
                    if (whole.length > 0) {
                        tell(out, kind, Arrays.copyOf(whole, random.nextInt(whole.length)));
                        tell(out, kind, Arrays.copyOf(whole, whole.length + 1 + random.nextInt(4)));
                    }
                }
            }
        }
    }

    static void tell(BufferedWriter out, String kind, byte[] data) throws Exception {
        ObjectNode line = JSON.objectNode().put("kind", kind).put("bytes", Base64.getEncoder().encodeToString(data));
        try {
            line.set("told", read(kind, ByteBuffer.wrap(data)));
        } catch (RuntimeException | NoClassDefFoundError error) {
            line.put("error", error.toString());
        }
        out.write(line.toString());
        out.write('\n');
    }

    // Reading.

    static ObjectNode read(String kind, ByteBuffer data) {
        ObjectNode found = JSON.objectNode();
        switch (kind) {
            case "subscription" -> {
                Subscription told = ConsumerProtocol.deserializeSubscription(data);
                found.set("topics", strings(new TreeSet<>(told.topics())));
                found.set("owned", pairs(told.ownedPartitions()));
                told.generationId().ifPresent(each -> found.put("generation", each));
                told.rackId().ifPresent(each -> found.put("rack", each));
                bytes(found, told.userData());
            }
            case "assignment" -> {
                Assignment told = ConsumerProtocol.deserializeAssignment(data);
                found.set("partitions", pairs(told.partitions()));
                bytes(found, told.userData());
            }
            case "sticky" -> member(found, new Sticky().read(data));
            case "cooperative" -> member(found, new Cooperative().read(data));
            case "connect-metadata" -> {
                if (data.getShort(0) == 0) {
                    ConnectProtocol.WorkerState told = ConnectProtocol.deserializeMetadata(data);
                    found.put("url", told.url()).put("offset", told.offset());
                } else {
                    ExtendedWorkerState told = IncrementalCooperativeConnectProtocol.deserializeMetadata(data);
                    found.put("url", told.url()).put("offset", told.offset());
                    if (told.assignment() != null && told.assignment().leader() != null) found.set("running", work(told.assignment()));
                }
            }
            case "connect-assignment" -> {
                if (data.getShort(0) == 0) {
                    ConnectProtocol.Assignment told = ConnectProtocol.deserializeAssignment(data);
                    head(found, told);
                    found.set("connectors", strings(new TreeSet<>(told.connectors())));
                    found.set("tasks", tasks(told.tasks()));
                } else {
                    found.setAll(work(IncrementalCooperativeConnectProtocol.deserializeAssignment(data)));
                }
            }
            case "streams-subscription" -> {
                SubscriptionInfo told = SubscriptionInfo.decode(data);
                found.put("version", told.version()).put("latest", told.latestSupportedVersion());
                if (told.version() > 11) break;
                found.put("process", told.processId().id().toString());
                found.set("previous", ids(told.prevTasks()));
                found.set("standby", ids(told.standbyTasks()));
                found.put("endpoint", told.userEndPoint()).put("error", told.errorCode());
                ObjectNode tags = found.putObject("tags");
                new TreeMap<>(told.clientTags()).forEach(tags::put);
                ObjectNode sums = found.putObject("sums");
                if (told.version() >= 7) told.taskOffsetSums().forEach((task, sum) -> sums.put(name(task), sum));
            }
            case "streams-assignment" -> {
                AssignmentInfo told = AssignmentInfo.decode(data);
                found.put("version", told.version()).put("common", told.commonlySupportedVersion());
                ArrayNode active = found.putArray("active");
                told.activeTasks().forEach(task -> active.add(name(task)));
                ObjectNode standby = found.putObject("standby");
                told.standbyTasks().forEach((task, held) -> standby.set(name(task), pairs(held)));
                found.set("hosts", hosts(told.partitionsByHost()));
                found.set("standbyHosts", hosts(told.standbyPartitionByHost()));
                found.put("error", told.errCode()).put("next", told.nextRebalanceMs());
            }
            default -> throw new IllegalArgumentException(kind);
        }
        return found;
    }

    static void member(ObjectNode found, MemberData told) {
        found.set("previous", pairs(told.partitions));
        told.generation.ifPresent(each -> found.put("generation", each));
    }

    static void head(ObjectNode found, ConnectProtocol.Assignment told) {
        found.put("error", told.error()).put("leader", told.leader()).put("leaderUrl", told.leaderUrl()).put("offset", told.offset());
    }

    static ObjectNode work(ExtendedAssignment told) {
        ObjectNode found = JSON.objectNode();
        head(found, told);
        found.set("connectors", strings(new TreeSet<>(told.connectors())));
        found.set("tasks", tasks(told.tasks()));
        found.set("revokedConnectors", strings(new TreeSet<>(told.revokedConnectors())));
        found.set("revokedTasks", tasks(told.revokedTasks()));
        return found.put("delay", told.delay());
    }

    static void bytes(ObjectNode found, ByteBuffer data) {
        if (data != null && data.hasRemaining()) {
            byte[] copy = new byte[data.remaining()];
            data.duplicate().get(copy);
            found.put("userData", Base64.getEncoder().encodeToString(copy));
        }
    }

    static ArrayNode strings(Collection<String> words) {
        ArrayNode found = JSON.arrayNode();
        words.forEach(found::add);
        return found;
    }

    static ArrayNode pairs(Collection<TopicPartition> partitions) {
        Set<String> sorted = new TreeSet<>();
        partitions.forEach(each -> sorted.add(each.topic() + ":" + each.partition()));
        return strings(sorted);
    }

    static ArrayNode tasks(Collection<ConnectorTaskId> tasks) {
        Set<String> sorted = new TreeSet<>();
        tasks.forEach(each -> sorted.add(each.connector() + "-" + each.task()));
        return strings(sorted);
    }

    static String name(TaskId task) {
        return (task.topologyName() == null ? "" : task.topologyName() + "__") + task.subtopology() + "_" + task.partition();
    }

    static ArrayNode ids(Collection<TaskId> tasks) {
        Set<String> sorted = new TreeSet<>();
        tasks.forEach(each -> sorted.add(name(each)));
        return strings(sorted);
    }

    static ObjectNode hosts(Map<HostInfo, Set<TopicPartition>> held) {
        ObjectNode found = JSON.objectNode();
        held.forEach((host, partitions) -> found.set(host.host() + ":" + host.port(), pairs(partitions)));
        return found;
    }

    // Making.

    static byte[] random(String kind) {
        return switch (kind) {
            case "subscription" -> array(ConsumerProtocol.serializeSubscription(
                new Subscription(names(), blob(), partitions(), random.nextInt(9), Optional.ofNullable(random.nextBoolean() ? "r-ü" : null)),
                (short) random.nextInt(4)));
            case "assignment" -> array(ConsumerProtocol.serializeAssignment(new Assignment(partitions(), blob()), (short) random.nextInt(4)));
            case "sticky" -> sticky();
            case "cooperative" -> cooperative();
            case "connect-metadata" -> switch (random.nextInt(3)) {
                case 0 -> array(ConnectProtocol.serializeMetadata(new ConnectProtocol.WorkerState("http://h:1/", random.nextLong())));
                case 1 -> array(IncrementalCooperativeConnectProtocol.serializeMetadata(new ExtendedWorkerState("u", 1, extended(1)), false));
                default -> array(IncrementalCooperativeConnectProtocol.serializeMetadata(
                    new ExtendedWorkerState("u", 2, random.nextBoolean() ? null : extended(2)), true));
            };
            case "connect-assignment" -> switch (random.nextInt(3)) {
                case 0 -> array(ConnectProtocol.serializeAssignment(new ConnectProtocol.Assignment(
                    (short) random.nextInt(3), "leader", "http://l:1/", random.nextLong(), names(), taskIds())));
                case 1 -> array(IncrementalCooperativeConnectProtocol.serializeAssignment(extended(1), false));
                default -> array(IncrementalCooperativeConnectProtocol.serializeAssignment(extended(2), true));
            };
            case "streams-subscription" -> {
                int version = 1 + random.nextInt(11);
                Map<TaskId, Long> sums = new HashMap<>();
                for (TaskId task : taskSet(version)) sums.put(task, random.nextBoolean() ? -2L : (long) random.nextInt(99));
                Map<String, String> tags = version >= 11 && random.nextBoolean() ? Map.of("zone", "a-ü", "x", "y") : Map.of();
                yield array(new SubscriptionInfo(version, version < 3 ? -1 : 11, new ProcessId(new UUID(random.nextLong(), random.nextLong())),
                    random.nextBoolean() ? "host:1" : null, sums, (byte) random.nextInt(), random.nextInt(4), tags).encode());
            }
            default -> {
                int version = 1 + random.nextInt(11);
                Map<TaskId, Set<TopicPartition>> standby = new HashMap<>();
                for (TaskId task : taskSet(version)) standby.put(task, new HashSet<>(partitions()));
                AssignmentInfo made = new AssignmentInfo(version, new ArrayList<>(taskSet(version)), standby, byHost(), byHost(), random.nextInt(4));
                if (version >= 7) made.setNextRebalanceTime(random.nextLong());
                yield array(made.encode());
            }
        };
    }

    static byte[] sticky() {
        ByteBuffer data = ByteBuffer.allocate(4096);
        List<TopicPartition> held = partitions();
        data.putInt(held.size());
        for (TopicPartition each : held) {
            byte[] name = each.topic().getBytes(StandardCharsets.UTF_8);
            data.putShort((short) name.length).put(name).putInt(1).putInt(each.partition());
        }
        if (random.nextBoolean()) data.putInt(random.nextInt(99));
        return Arrays.copyOf(data.array(), data.position());
    }

    static byte[] cooperative() {
        CooperativeStickyAssignor assignor = new CooperativeStickyAssignor();
        assignor.onAssignment(new Assignment(List.of()), new org.apache.kafka.clients.consumer.ConsumerGroupMetadata(
            "g", random.nextInt(99), "m", Optional.empty()));
        return array(assignor.subscriptionUserData(Set.of()));
    }

    static ExtendedAssignment extended(int version) {
        return new ExtendedAssignment((short) version, (short) random.nextInt(2), "leader", "http://l:1/", random.nextLong(),
            names(), taskIds(), names(), taskIds(), random.nextInt(999));
    }

    static List<String> names() {
        List<String> found = new ArrayList<>(new TreeSet<>(Set.of("a", "b-ü", "topic.3")));
        return found.subList(0, random.nextInt(4));
    }

    static List<TopicPartition> partitions() {
        List<TopicPartition> found = new ArrayList<>();
        for (String name : names()) for (int at = random.nextInt(3); at >= 0; at--) found.add(new TopicPartition(name, at));
        return found;
    }

    static List<ConnectorTaskId> taskIds() {
        List<ConnectorTaskId> found = new ArrayList<>();
        for (String name : names()) for (int at = random.nextInt(3); at >= 0; at--) found.add(new ConnectorTaskId(name, at));
        return found;
    }

    static Set<TaskId> taskSet(int version) {
        Set<TaskId> found = new HashSet<>();
        for (int at = random.nextInt(4); at > 0; at--)
            found.add(version >= 10 && random.nextBoolean() ? new TaskId(at, random.nextInt(9), "top-ü") : new TaskId(at, random.nextInt(9)));
        return found;
    }

    static Map<HostInfo, Set<TopicPartition>> byHost() {
        Map<HostInfo, Set<TopicPartition>> found = new HashMap<>();
        for (int at = random.nextInt(3); at > 0; at--) found.put(new HostInfo("h\u0000\ud83d\ude00" + at, at), new HashSet<>(partitions()));
        return found;
    }

    static ByteBuffer blob() {
        return random.nextBoolean() ? null : ByteBuffer.wrap(new byte[] {1, 2, (byte) random.nextInt()});
    }

    static byte[] array(ByteBuffer data) {
        if (data == null) return new byte[0];
        byte[] found = new byte[data.remaining()];
        data.duplicate().get(found);
        return found;
    }
}
