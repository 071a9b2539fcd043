/**
 * Names the text that a command decides about. The text is read and shown first, so that the
 * decision is refused if the text has changed since.
 */
import type { NamedOp } from '#contract/op'
import type { Host } from './host.ts'
import { MARK } from './table.ts'
import { oneLine, truncate, warnOfUnseen } from './text.ts'

type Input = Record<string, unknown>

interface Deciding {
  o: NamedOp
  input: Input
  options: Readonly<Record<string, unknown>>
  host: Host
}

/** The input field that names a text by its hash. */
const FIELD = 'expect_hash'
const DEFAULT_WIDTH = 100

/**
 * Whether to read the text first. Not if the caller has named it. Nor if the caller has given an
 * idempotency key, which is for sending the same request again: by then the text may be another one
 * because of that very request.
 */
const isOpen = ({ o, input, options }: Deciding): boolean =>
  FIELD in o.input.properties && input[FIELD] === undefined && options.idempotencyKey === undefined

/**
 * The input, with the hash of the text as `read` returns it now. Prints the mark and the beginning
 * of the text to standard error.
 */
export const withSeen = async (deciding: Deciding, read: () => Promise<Input>): Promise<Input> => {
  const { input, host, options } = deciding
  if (!isOpen(deciding)) return input
  // Records of the agent have names in camel case.
  const { content_hash, contentHash: hash = content_hash, body, text = body } = await read()
  if (typeof hash !== 'string') return input
  const line = `text ${hash.slice(0, MARK)}: ${oneLine(String(text))}`
  if (options.json !== true) {
    host.stderr.write(`${truncate(line, host.stderr.columns ?? DEFAULT_WIDTH)}\n`)
    warnOfUnseen(host.stderr, text)
  }
  return { ...input, [FIELD]: hash }
}
