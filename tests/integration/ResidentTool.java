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
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Exit;

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

    private static int run(Method tool, String[] words) throws InterruptedException {
        AtomicInteger code = new AtomicInteger();
        CountDownLatch over = new CountDownLatch(1);
        Exit.Procedure exit = (status, message) -> {
            code.set(status);
            over.countDown();
            while (true) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException ignored) {
                    // nothing may come behind an exit
                }
            }
        };
        Exit.setExitProcedure(exit);
        Exit.setHaltProcedure(exit);
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
