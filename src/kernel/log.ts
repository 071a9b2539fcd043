import pino from 'pino'

export type Log = pino.Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const SECRET_FIELDS = ['authorization', 'api_key', 'password', 'token', 'secret']
/** Paths whose values never reach a log line. */
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])
/** API keys, secrets of webhooks, and the tokens of sessions, browsers and links, anywhere in a line: in an address, in an error's message. */
const CREDENTIAL =
  /ak_[0-9A-Za-z]{36}|whsec_(?:[\w+/-]|%2[BFbf]){32,}|(?:inv|rst)_[\w-]{32}|br_[0-9a-f-]{36}\.[\w-]{22}\.\d+\.[\w-]{43}|rt_[0-9a-f-]{36}\.\d+\.[\w-]{43}|eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{43}/g
const CENSOR = '[redacted]'

/** Structured logs, one JSON object per line, on standard error. Standard output belongs to the output of commands. */
export const createLog = (level: string, destination: pino.DestinationStream = pino.destination(2)): Log =>
  pino(
    {
      level,
      redact: { paths: SECRET_PATHS, censor: CENSOR },
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: (line) => line.replace(CREDENTIAL, CENSOR) },
    },
    destination,
  )
