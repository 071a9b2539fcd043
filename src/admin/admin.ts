/**
 * `tendril admin …`: commands for operators, with or without a running server. Each prints one JSON
 * object. The table of them is in groups.ts.
 */
import { readConfig } from '#config/config'
import { AppError, errorTable } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { Incomplete } from './command.ts'
import type { Flags } from './flags.ts'
import { helpOf, helpRecords } from './help.ts'
import { readLine } from './line.ts'

interface Surroundings {
  /** The environment. By default that of this process. */
  env?: Record<string, string | undefined>
  /** Both print a line. */
  out(line: string): void
  err(line: string): void
}

const ofThisProcess: Surroundings = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
}

/** What a line says wrongly is about the line, and everything else about the workspace it names. */
const described = ({ code, message }: AppError, { workspace }: Flags): string =>
  code === 'invalid_input' || typeof workspace !== 'string' || message.includes(workspace)
    ? message
    : `${message} (workspace ${workspace.toLowerCase()})`

/** Runs a command and returns its exit code. */
export async function admin(
  args: string[],
  { env, out, err }: Surroundings = ofThisProcess,
): Promise<number> {
  let named: Flags = {}
  try {
    const { command, help, flags, operands, ...line } = readLine(args)
    named = flags
    if (help || !command) {
      out(
        line.json
          ? JSON.stringify(helpRecords({ ...line, command }))
          : helpOf({ ...line, command }),
      )
      return args.length === 0 ? 2 : 0
    }
    const place = { config: readConfig(env), log: createLog('warn'), err }
    const answer = await command.run(place, flags, operands)
    if (answer instanceof Incomplete) {
      out(JSON.stringify(answer.answer))
      err(`tendril admin: ${answer.message}`)
      return 1
    }
    if (answer) out(JSON.stringify(answer))
    return 0
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    err(`tendril admin: ${described(cause, named)}`)
    return errorTable[cause.code].exit
  }
}
