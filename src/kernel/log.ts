import pino from 'pino'

export type Log = pino.Logger

/** Paths whose values never reach a log line. */
const SECRET_PATHS = [
  'authorization',
  'api_key',
  'password',
  'token',
  'secret',
  '*.authorization',
  '*.api_key',
  '*.password',
  '*.token',
  '*.secret',
]

/** Structured logs, one JSON object a line, on standard error: standard output belongs to what a command prints. */
export const createLog = (level: string): Log =>
  pino(
    { level, redact: { paths: SECRET_PATHS, censor: '[redacted]' }, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination(2),
  )
