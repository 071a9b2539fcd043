/**
 * The entry point of the server, the operators' commands and the command line. Read ARCHITECTURE.md
 * first. Each of the three is imported on demand, so the command line starts without loading the
 * server.
 */
import { setPriority } from 'node:os'

/** Exits explicitly, because listeners and timers would keep the process alive. */
const exitWith = (run: Promise<number>): Promise<void> =>
  run.then(
    (code) => process.exit(code),
    (cause) => {
      console.error(`tendril: ${cause instanceof Error ? cause.message : String(cause)}`)
      process.exit(1)
    },
  )

const [command = 'serve', ...rest] = process.argv.slice(2)

/** Refuses arguments for commands that only the environment configures. */
const withoutArguments = async (run: () => Promise<number>): Promise<number> => {
  if (rest.length === 0) return run()
  console.error(
    `tendril ${command} takes no arguments; environment variables configure it, as the README describes`,
  )
  return rest.includes('--help') ? 0 : 2
}

/** As `nice` has it. */
const LOWEST_PRIORITY = 19

/**
 * A backup takes long, and the server beside it goes first. To load the program is a part of what
 * it costs, and threads that begin later inherit the priority.
 */
const letServerGoFirst = (): void => {
  if (rest.find((word) => !word.startsWith('-')) === 'backup') setPriority(LOWEST_PRIORITY)
}

const entries: Record<string, () => Promise<void>> = {
  serve: () =>
    exitWith(
      withoutArguments(() =>
        import('./server/serve.ts').then(({ runServer }) => runServer()).then(() => 0),
      ),
    ),
  admin: () => {
    letServerGoFirst()
    return exitWith(import('./admin/admin.ts').then(({ admin }) => admin(rest)))
  },
  health: () =>
    exitWith(withoutArguments(() => import('./server/health.ts').then(({ health }) => health()))),
}

const commandLine = (): Promise<void> =>
  import('./cli/process.ts').then(({ main }) => main({ server: ['serve', 'admin', 'health'] }))

void ((Object.hasOwn(entries, command) && entries[command]) || commandLine)()
