/** Runs an operation: sends it, follows pages, waits for generations and prints the answer. */
import { operations } from '#contract/index'
import { type NamedOp, pathParams } from '#contract/op'
import { isSettled } from '#contract/settling'
import { argumentText, inputFrom, once, type ParsedArguments, type ReadSource } from './argv.ts'
import { type ApiResponse, askOf, call, downloadTo, idempotencyKeyFor } from './call.ts'
import { commandWords, listOf, readingOf, settlingOf } from './catalogue.ts'
import { FAILED_EXIT, Failure, INTERRUPTED, INTERRUPTED_EXIT, misuse } from './failure.ts'
import type { Host } from './host.ts'
import { spacedName } from './names.ts'
import { jsonLines, printAnswer, tablePages } from './print.ts'
import { withSeen } from './seen.ts'
import { findTarget, tokenFor } from './target.ts'
import { openTransport, type Transport } from './transport.ts'

type Input = Record<string, unknown>

interface Work {
  o: NamedOp
  input: Input
  options: Readonly<Record<string, unknown>>
  host: Host
  token: string | undefined
  transport: Transport
  /** Reads `-` and `@file`. */
  read: ReadSource
}

const FIRST_POLL_MS = 250
/** The polling interval of the API document. */
const SLOWEST_POLL_MS = 20_000
const DEFAULT_WAIT_S = 300
const LONGEST_WAIT_S = 86_400

const ask = async (
  { host, token, transport }: Work,
  o: NamedOp,
  input: Input,
  key?: string,
): Promise<ApiResponse> =>
  call(transport, askOf(o, input, { token, idempotencyKey: await idempotencyKeyFor(o, key) }), host)

/** The password, from an option or typed at a prompt. */
const passwordFor = async ({ options, host, read }: Work): Promise<string | undefined> => {
  const password = textOption(options, 'confirmPassword')
  if (password !== undefined)
    return argumentText(password, { flag: 'confirm-password', readable: true }, read)
  return host.askSecret('Confirm your password: ')
}

/**
 * Sends the request. If the server requires the password again, asks for it and resends under the
 * same key.
 */
const askConfirmed = async (work: Work, idempotencyKey?: string): Promise<ApiResponse> => {
  const { o, input } = work
  const key = await idempotencyKeyFor(o, idempotencyKey)
  try {
    return await ask(work, o, input, key)
  } catch (cause) {
    const isAsked = cause instanceof Failure && cause.code === 'reauthentication_required'
    const current_password = isAsked ? await passwordFor(work) : undefined
    if (current_password === undefined) throw cause
    await ask(work, operations.find(({ id }) => id === 'app.session.confirm')!, {
      current_password,
    })
    return ask(work, o, input, key)
  }
}

const textOption = (options: Work['options'], name: string): string | undefined =>
  typeof options[name] === 'string' ? (options[name] as string) : undefined

const sayNone = (host: Work['host'], records: string): void =>
  void host.stderr.write(`no ${spacedName(records)}\n`)

const printList = (work: Work, body: Input): void => {
  const { o, host, options } = work
  const list = listOf(o)
  if (options.json === true || !list) {
    printAnswer(host, body, options.json === true)
    const [[records = '', rows] = [], ...others] = Object.entries(body)
    if (options.json !== true && others.length === 0 && Array.isArray(rows) && rows.length === 0)
      sayNone(host, records)
    return
  }
  const rows = body[list.records] as Input[]
  tablePages(host).add(rows)
  if (rows.length === 0) sayNone(host, list.records)
  else if (body[list.cursor] !== null)
    host.stderr.write(`more results: use --all, or --cursor ${String(body[list.cursor])}\n`)
}

/** Prints each page before it requests the next. */
const runAll = async (work: Work): Promise<number> => {
  const { o, input, host, options } = work
  const list = listOf(o)!
  const pages = options.json === true ? jsonLines(host) : tablePages(host)
  let cursor: unknown
  let count = 0
  do {
    const { body } = await ask(work, o, { ...input, ...(cursor === undefined ? {} : { cursor }) })
    const rows = body[list.records] as Input[]
    pages.add(rows)
    count += rows.length
    if (body[list.cursor] === cursor)
      throw new Failure('internal', 'the server returned the same page twice')
    cursor = body[list.cursor]
  } while (typeof cursor === 'string')
  if (count === 0 && options.json !== true) sayNone(host, list.records)
  return 0
}

const recordOf = (body: Input): Input => (Object.values(body)[0] ?? {}) as Input

const waitMs = (options: Work['options']): number => {
  const text = textOption(options, 'timeout') ?? String(DEFAULT_WAIT_S)
  const seconds = Number(text)
  const isLegal = /^\d+(\.\d+)?$/.test(text) && seconds > 0 && seconds <= LONGEST_WAIT_S
  return isLegal
    ? seconds * 1_000
    : misuse(
        `--timeout must be a number of seconds up to ${LONGEST_WAIT_S}, not ${text || 'empty'}`,
      )
}

/** A command that shows the record later. */
const lookAgain = ({ options }: Work, sibling: NamedOp, id: unknown): string => {
  const words =
    pathParams(sibling.path).length > 0
      ? `${commandWords(sibling)} ${String(id)}`
      : commandWords(sibling)
  return `check it with tendril ${words}${options.profile ? ` --profile ${String(options.profile)}` : ''}`
}

const failOverdue = (id: unknown, hint: string): never => {
  throw new Failure('unavailable', `${String(id)} is still running after the timeout`, { hint })
}

/** ^C stops the waiting but not the work. Prints how to find the record. */
const interruptible = async <T>(
  { host }: Work,
  { id, hint }: { id: unknown; hint: string },
  wait: () => Promise<T>,
): Promise<T> => {
  try {
    return await wait()
  } catch (cause) {
    if (!host.signal.aborted) throw cause
    throw new Failure(INTERRUPTED, `${String(id)} is still running`, {
      exit: INTERRUPTED_EXIT,
      hint,
    })
  }
}

/** A status line that is overwritten on a terminal, and not printed elsewhere. */
const progress = ({ stderr, now }: Host) => {
  const began = now()
  return {
    show: (status: unknown) => {
      if (stderr.columns !== undefined)
        stderr.write(`\r\u001b[K${String(status)} … ${Math.round((now() - began) / 1_000)} s`)
    },
    clear: () => {
      if (stderr.columns !== undefined) stderr.write('\r\u001b[K')
    },
  }
}

/** The largest page of a list. The new record is on the first one. */
const MAX_LISTED = 100

/** The current record, in the same wrapper as the answer that created it. */
const look = async (work: Work, sibling: NamedOp, { body }: ApiResponse): Promise<ApiResponse> => {
  const { id } = recordOf(body)
  const [parameter] = pathParams(sibling.path)
  if (parameter !== undefined) return ask(work, sibling, { [parameter]: id })
  const answer = await ask(work, sibling, { limit: MAX_LISTED })
  const found =
    (recordOf(answer.body) as unknown as Input[]).find((one) => one.id === id) ?? recordOf(body)
  return { ...answer, body: { [Object.keys(body)[0]!]: found } }
}

const untilSettled = async (work: Work, first: ApiResponse): Promise<ApiResponse> => {
  const { o, host, options } = work
  const sibling = settlingOf(o)!
  const { id } = recordOf(first.body)
  const until = host.now() + waitMs(options)
  const hint = lookAgain(work, sibling, id)
  const shown = progress(host)
  const settled = async (): Promise<ApiResponse> => {
    let answer = await look(work, sibling, first)
    for (
      let pause = FIRST_POLL_MS;
      !isSettled(recordOf(answer.body).status);
      pause = Math.min(pause * 1.5, SLOWEST_POLL_MS)
    ) {
      shown.show(recordOf(answer.body).status)
      const left = until - host.now()
      if (left <= 0) return failOverdue(id, hint)
      await host.pause(Math.min(pause, left))
      answer = await look(work, sibling, first)
    }
    return answer
  }
  try {
    return await interruptible(work, { id, hint }, settled)
  } finally {
    shown.clear()
  }
}

/** Prints a failed record on standard output, like a ready one, and also reports the failure. */
const settle = (work: Work, { body }: ApiResponse): number => {
  const { host, options } = work
  const { status, error } = recordOf(body)
  printAnswer(host, body, options.json === true)
  if (status !== 'failed') return 0
  const [code = 'generation_failed', ...rest] = String(error ?? 'generation_failed').split(':')
  throw new Failure(code, rest.join(':').trim() || code, { exit: FAILED_EXIT })
}

/** Reads what the command concerns, as it is now. */
const readFirst = async (work: Work): Promise<Input> => {
  const sibling = readingOf(work.o)
  return sibling ? recordOf((await ask(work, sibling, { id: work.input.id })).body) : {}
}

const runOnce = async (begun: Work): Promise<number> => {
  const { host, options } = begun
  if (options.wait === true) waitMs(options)
  const work = { ...begun, input: await withSeen(begun, () => readFirst(begun)) }
  const answer = await askConfirmed(work, textOption(options, 'idempotencyKey'))
  if (options.wait === true) return settle(work, await untilSettled(work, answer))
  printList(work, answer.body)
  if (answer.status === 202 && host.stderr.columns !== undefined)
    host.stderr.write('still running: check again in a moment\n')
  return 0
}

const runDownload = async ({ o, input, host, token, transport }: Work): Promise<number> => {
  await downloadTo(transport, askOf(o, input, { token }), host)
  return 0
}

const runFile = async ({ o, input, host, token, transport, options }: Work): Promise<number> => {
  const { saveFile } = await import('./save-file.ts')
  const to = {
    output: textOption(options, 'output'),
    force: options.force === true,
    json: options.json === true,
  }
  await saveFile(transport, askOf(o, input, { token }), host, to)
  return 0
}

const run = (work: Work): Promise<number> => {
  if (work.o.kind === 'download') return runDownload(work)
  if (work.o.kind === 'file') return runFile(work)
  return work.options.all === true ? runAll(work) : runOnce(work)
}

/** Runs an operation and returns the exit code. Throws a `Failure`. */
export const runOperation = async (
  o: NamedOp,
  parsed: ParsedArguments,
  host: Host,
): Promise<number> => {
  const { options } = parsed
  const read = once((source) => {
    if (source !== '-') return host.readFile(source)
    return options.apiKey === '-'
      ? misuse('only one option can read standard input, and --api-key does')
      : host.readInput()
  })
  const target = await findTarget(options, host)
  const input = await inputFrom(o, parsed, read)
  const token = tokenFor(o, target, options)
  const transport = await openTransport(target.url, host.signal)
  try {
    return await run({ o, input, options, host, token, transport, read })
  } finally {
    transport.close()
  }
}
