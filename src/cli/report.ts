/** Prints a failure on standard error, with the names of options instead of fields. */
import { type NamedOp, pathParams } from '#contract/op'
import type { Conflict } from '#kernel/conflict'
import type { ErrorDetail } from '#kernel/errors'
import type { Failure } from './failure.ts'
import { fieldsOf } from './fields.ts'
import type { Host } from './host.ts'
import { kebab } from './names.ts'
import { jsonText } from './print.ts'
import { harmless } from './text.ts'

/**
 * Turns `writing_dna.stories.0` into `--writing-dna.stories (entry 1)`, and an argument into
 * `<id>`.
 */
const describePath = (path: string, o: NamedOp | undefined): string => {
  if (path === '') return 'the input'
  if (path.toLowerCase() === 'idempotency-key') return '--idempotency-key'
  if (o && pathParams(o.path).includes(path)) return `<${kebab(path)}>`
  const field = (o ? fieldsOf(o) : []).find(
    (one) => path === one.path.join('.') || path.startsWith(`${one.path.join('.')}.`),
  )
  if (!field) return path
  const rest = path.slice(field.path.join('.').length + 1)
  if (rest === '') return `--${field.flag}`
  return /^\d+$/.test(rest)
    ? `--${field.flag} (entry ${Number(rest) + 1})`
    : `--${field.flag} at ${rest}`
}

const hints: Record<string, string> = {
  unauthenticated: 'run tendril login, or pass a key with --api-key',
  reauthentication_required:
    'pass your password with --confirm-password - (standard input) or @file',
  missing_scope: 'run tendril login --scopes with the required scopes',
  idempotency_in_flight: 'the first call is still running; try again in a moment',
  plan_invalid: 'settle the billing of this workspace first',
  plan_quota_exceeded: 'the monthly quota is used up; it resets at the start of next month (UTC)',
  plan_feature_disabled:
    'the plan of this workspace does not include this feature; the operator can change the plan',
  x_not_connected: 'connect an account of the network first',
}

const waitOf = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`
}

const hintOf = (
  { code, message, hint, retryAfter }: Failure,
  o: NamedOp | undefined,
): string | undefined => {
  if (hint !== undefined) return hint
  if (retryAfter !== undefined) return `try again in ${waitOf(retryAfter)}`
  // The message itself says what to do, and where to connect accounts.
  if (code === 'x_not_connected' && message !== code) return undefined
  return code === 'unauthenticated' && o?.scope === 'session'
    ? 'run tendril login --session'
    : hints[code]
}

const detailLines = (details: readonly ErrorDetail[], o: NamedOp | undefined): string[] =>
  details.map(({ path, message }) => `  ${describePath(path, o)}: ${message}`)

/** Who acted first, and when. */
const actedFirst = ({ by, at }: Partial<Conflict> = {}): string[] =>
  by ? [`  by ${by.name ?? `${by.kind} ${by.id}`}${at === undefined ? '' : `, ${at}`}`] : []

const forPeople = (failure: Failure, o: NamedOp | undefined): string => {
  const { code, message, conflict, details } = failure
  const hint = hintOf(failure, o)
  const text = message === code || message.startsWith(`${code}:`) ? message : `${code}: ${message}`
  const id = code === 'internal' && failure.requestId ? [`  request ${failure.requestId}`] : []
  return harmless(
    [
      `tendril: ${text}`,
      ...actedFirst(conflict),
      ...detailLines(details, o),
      ...id,
      ...(hint ? [`  hint: ${hint}`] : []),
    ].join('\n'),
  )
}

const forPrograms = ({
  code,
  message,
  conflict,
  details,
  requestId,
  hint,
  retryAfter,
}: Failure): object => ({
  error: {
    code,
    message,
    ...conflict,
    ...(details.length > 0 ? { details } : {}),
    ...(requestId ? { request_id: requestId } : {}),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    ...(hint ? { hint } : {}),
  },
})

/** `o`: the operation that failed, if there was one. */
export const reportFailure = (
  host: Host,
  failure: Failure,
  { o, asJson }: { o: NamedOp | undefined; asJson: boolean },
): void =>
  host.stderr.write(
    asJson ? jsonText(forPrograms(failure), host.stderr) : `${forPeople(failure, o)}\n`,
  )
