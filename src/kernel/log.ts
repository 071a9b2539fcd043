import { AsyncLocalStorage } from 'node:async_hooks'
import pino from 'pino'
import { type Clock, systemClock } from './clock.ts'
import { Repeats } from './repeats.ts'

export type Log = pino.Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const SECRET_FIELDS = ['authorization', 'api_key', 'password', 'token', 'secret']
/** Paths whose values never reach a log line. */
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])
/**
 * API keys, webhook secrets, and the tokens of sessions, browsers and links, wherever they are in a
 * line: in an address, for example, or in an error's message.
 */
const CREDENTIAL =
  /ak_[0-9A-Za-z]{36}|whsec_(?:[\w+/-]|%2[BFbf]){32,}|(?:inv|rst)_[\w-]{32}|br_[0-9a-f-]{36}\.[\w-]{22}\.\d+\.[\w-]{43}|rt_[0-9a-f-]{36}\.\d+\.[\w-]{43}|eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{43}/g
const CENSOR = '[redacted]'

type Fields = Record<string, unknown>

/**
 * Fields that all log lines of a piece of work have in addition to their own: its workspace, and
 * its job or record.
 */
const named = new AsyncLocalStorage<Fields | undefined>()

/** Each line that `run` writes has these fields, unless the line sets fields of the same names. */
export const withFields = <T>(fields: Fields, run: () => T): T =>
  named.run({ ...named.getStore(), ...fields }, run)

/** The value that this field has in log lines that are written now. */
export const fieldNow = (name: string): unknown => named.getStore()?.[name]

/** For work that one caller begins and that goes on for everybody. */
export const withoutFields = <T>(run: () => T): T => named.run(undefined, run)

/**
 * The fields by which two failures count as the same. Other fields, such as ids of requests and
 * durations, differ each time.
 */
const SAME = [
  'workspace',
  'kind',
  'operation',
  'letter',
  'model',
  'code',
  'failure',
  'status',
] as const

interface Failure {
  type: string
  code?: unknown
  text: string
}

/** The failure of an error, without the ids and numbers in its text. */
const failureOf = (err: unknown): Failure | undefined => {
  if (!(err instanceof Error)) return undefined
  const text = err.message
    .slice(0, 300)
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+/gi, '#')
  return { type: err.name, ...('code' in err ? { code: err.code } : {}), text }
}

const WARN = 40

/**
 * Repeats of a failure within a minute are counted: one line reports the first, and another how
 * often it came again.
 */
const counting = (repeats: Repeats): NonNullable<pino.LoggerOptions['hooks']>['logMethod'] =>
  function (args, method, level) {
    const [given, message] = args as unknown as [Fields, string]
    const isFailure =
      level >= WARN &&
      typeof given === 'object' &&
      given !== null &&
      ('err' in given || 'failure' in given)
    if (!isFailure) return method.apply(this, args)
    const all = { ...named.getStore(), ...given } as Fields
    const same = Object.fromEntries(
      SAME.flatMap((name) => (name in all ? [[name, all[name]]] : [])),
    )
    const err = failureOf(given.err)
    const again = (count: number) =>
      withoutFields(() =>
        method.apply(this, [{ ...same, ...(err ? { err } : {}), count }, message] as never),
      )
    if (repeats.isFirst(JSON.stringify([level, message, same, err]), again))
      method.apply(this, args)
  }

/** A clock whose timers keep no process alive, not even for a count that is still open. */
const unheld: Clock = {
  ...systemClock,
  after(ms, wake) {
    const timer = setTimeout(wake, ms)
    timer.unref()
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}

/**
 * Structured logs, one JSON object per line, on standard error. Standard output belongs to the
 * output of commands.
 */
export const createLog = (
  level: string,
  destination?: pino.DestinationStream,
  clock = unheld,
): Log => {
  const repeats = new Repeats(clock)
  if (!destination && level !== 'silent') process.once('exit', () => repeats.tellAll())
  return pino(
    {
      level,
      redact: { paths: SECRET_PATHS, censor: CENSOR },
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: () => ({ ...named.getStore() }),
      hooks: {
        streamWrite: (line) => line.replace(CREDENTIAL, CENSOR),
        logMethod: counting(repeats),
      },
    },
    destination ?? pino.destination(2),
  )
}
