import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs one of Kafka's own command line tools again and again: a JVM and its classes are started once.
 *
 *  Argument: the tool's class. On standard input come runs: the number of words (int32), then each as its size (int32)
 *  and UTF-8. For each run there goes to standard output: exit code (int32), and what it wrote to standard output and
 *  to standard error, each as its size and bytes. A run that exits is left standing there, as if its process had ended.
 */
public class ResidentTool {
    public static void main(String[] args) throws Exception {
        DataOutputStream answers = new DataOutputStream(System.out);
        DataInputStream runs = new DataInputStream(new BufferedInputStream(System.in));
        // Set before the tool's classes are loaded: Scala's Console keeps the stream that it finds first.
        Captured out = new Captured();
        Captured err = new Captured();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        Method tool = Class.forName(args[0]).getMethod("main", String[].class);
        while (true) {
            String[] words = new String[runs.readInt()];
            for (int at = 0; at < words.length; at++) {
                words[at] = new String(runs.readNBytes(runs.readInt()), StandardCharsets.UTF_8);
            }
            out.clear();
            err.clear();
            answers.writeInt(run(tool, words));
            answer(answers, out.taken());
            answer(answers, err.taken());
            answers.flush();
        }
    }

    /** Kafka's own class for exits, which is in another package from Kafka 4.4 on. */
    private static Class<?> exits() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.common.utils.internals.Exit");
        } catch (ClassNotFoundException older) {
            return Class.forName("org.apache.kafka.common.utils.Exit");
        }
    }

    private static int run(Method tool, String[] words) throws Exception {
        AtomicInteger code = new AtomicInteger();
        CountDownLatch over = new CountDownLatch(1);
        Class<?> procedure = Class.forName(exits().getName() + "$Procedure");
        Object exit = Proxy.newProxyInstance(procedure.getClassLoader(), new Class<?>[] {procedure}, (self, method, given) -> {
            code.set((Integer) given[0]);
            over.countDown();
            while (true) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException ignored) {
                    // nothing may come behind an exit
                }
            }
        });
        exits().getMethod("setExitProcedure", procedure).invoke(null, exit);
        exits().getMethod("setHaltProcedure", procedure).invoke(null, exit);
        Thread thread = new Thread(() -> {
            try {
                tool.invoke(null, (Object) words);
            } catch (InvocationTargetException error) {
                error.getCause().printStackTrace();
                code.set(1);
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            } finally {
                over.countDown();
            }
        });
        thread.setDaemon(true);
        thread.start();
        over.await();
        return code.get();
    }

    private static void answer(DataOutputStream answers, byte[] text) throws IOException {
        answers.writeInt(text.length);
        answers.write(text);
    }

    /** A stream whose sink is emptied for each run. */
    private static final class Captured extends FilterOutputStream {
        private final ByteArrayOutputStream kept;

        Captured() {
            this(new ByteArrayOutputStream());
        }

        private Captured(OutputStream sink) {
            super(sink);
            kept = (ByteArrayOutputStream) sink;
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int count) {
            kept.write(bytes, from, count);
        }

        synchronized void clear() {
            kept.reset();
        }

        synchronized byte[] taken() {
            return kept.toByteArray();
        }
    }
}
