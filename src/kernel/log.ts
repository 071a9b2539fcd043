import pino from 'pino'

export type Log = pino.Logger

const SECRET_FIELDS = ['authorization', 'api_key', 'password', 'token', 'secret']
/** Paths whose values never reach a log line. */
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])
/** An API key, wherever in a line it stands: in an address, in the message of an error. */
const API_KEY = /ak_[0-9A-Za-z]{36}/g
const CENSOR = '[redacted]'

/** Structured logs, one JSON object a line, on standard error: standard output belongs to what a command prints. */
export const createLog = (level: string, destination: pino.DestinationStream = pino.destination(2)): Log =>
  pino(
    {
      level,
      redact: { paths: SECRET_PATHS, censor: CENSOR },
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: (line) => line.replace(API_KEY, CENSOR) },
    },
    destination,
  )
