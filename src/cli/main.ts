/** Runs a command line and returns its exit code. */
import { type Command, CommanderError } from 'commander'
import { Failure, INTERRUPTED, INTERRUPTED_EXIT, misuse, misuseOf } from './failure.ts'
import type { Host } from './host.ts'
import { type Ground, serverCommands } from './own.ts'
import { operationAt, programFor, wholeProgram } from './program.ts'
import { reportFailure } from './report.ts'

const forAll = (command: Command, change: (one: Command) => void): void => {
  change(command)
  for (const child of command.commands) forAll(child, change)
}

/** Commander prints help, but we print its errors. */
const prepare = (program: Command, { stdout, stderr }: Host): void => {
  const output = {
    writeOut: (text: string) => stdout.write(text),
    writeErr: (text: string) => stderr.write(text),
    outputError: () => {},
    getOutHelpWidth: () => stdout.columns ?? 100,
    getErrHelpWidth: () => stderr.columns ?? 100,
  }
  forAll(program, (command) => void command.exitOverride().configureOutput(output))
}

/** The context of the commands, and a way to ask which one was chosen. */
const groundFor = (host: Host, server: readonly string[]) => {
  let work = async (): Promise<number> => 2
  const setting: Ground & { server: readonly string[] } = {
    host,
    server,
    act: (chosen) => {
      work = chosen
    },
    async complete(shell) {
      const { completionFor } = await import('./completion.ts')
      host.stdout.write(completionFor(shell, wholeProgram(setting)))
      return 0
    },
    async help(words) {
      if (words.length > 0) return runCommandLine([...words, '--help'], host, server)
      host.stdout.write((await import('./help.ts')).listing(server))
      return 0
    },
  }
  return { setting, chosen: () => work() }
}

/** Parses the arguments and returns the work to do. Undefined if help was printed. */
const parseCommandLine = (
  argv: readonly string[],
  host: Host,
  server: readonly string[],
): (() => Promise<number>) => {
  const { setting, chosen } = groundFor(host, server)
  const program = programFor(argv, setting)
  prepare(program, host)
  try {
    program.parse([...argv], { from: 'user' })
    return chosen
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause
    if (cause.code === 'commander.helpDisplayed' || cause.code === 'commander.version')
      return async () => 0
    if (cause.code === 'commander.help') return async () => 2
    const [name = ''] = argv
    if (serverCommands.some(([one]) => one === name))
      return misuse(`'${name}' is a command of the server, not of this client`, WHERE_IT_IS)
    throw misuseOf(cause)
  }
}

const WHERE_IT_IS = 'the single binary has it; in a clone of the repository: npm run -s admin -- …'

const asksForJson = (argv: readonly string[]): boolean =>
  argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined).includes('--json')

/**
 * Runs a command line. `server`: the server's commands, if this program includes them. Never
 * throws.
 */
export const runCommandLine = async (
  argv: readonly string[],
  host: Host,
  server: readonly string[] = [],
): Promise<number> => {
  try {
    return await parseCommandLine(argv, host, server)()
  } catch (cause) {
    const failure = Failure.from(cause)
    if (host.signal.aborted && failure.code !== INTERRUPTED) return INTERRUPTED_EXIT
    reportFailure(host, failure, { o: operationAt(argv), asJson: asksForJson(argv) })
    return failure.exit
  }
}
