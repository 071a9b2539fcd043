/** The text of a call that waits for a person. People change it as plain text, not within JSON. */
import { capabilities, operations } from './index.ts'
import { textFieldOf } from './op.ts'

type Arguments = Record<string, unknown>

interface AskedCall {
  tool_name: string
  arguments: Arguments
  subject: { text: string | null }
}

export interface CallText {
  /** The argument that takes a changed text. */
  field: string
  text: string
}

/**
 * The text that the call would send or keep. Undefined if it has none, or if its text cannot be
 * changed.
 */
export const textOfCall = ({
  tool_name,
  arguments: given,
  subject,
}: AskedCall): CallText | undefined => {
  const o = [...operations, ...capabilities].find(({ tool }) => tool === tool_name)
  const field = o && textFieldOf(o)
  if (field === undefined) return undefined
  const own = given[field]
  const text = typeof own === 'string' ? own : subject.text
  return text === null ? undefined : { field, text }
}

/** The arguments without that text. */
export const withoutText = (given: Arguments, { field }: CallText): Arguments =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name !== field))

/** Forms submit line ends in a form of their own. */
const inLines = (text: string): string => text.replace(/\r\n?/g, '\n')

/**
 * The arguments of the call with this text. A text that differs only in its line ends stays as it
 * was, byte for byte. `others`: the other arguments, perhaps changed.
 */
export const withText = (
  asked: AskedCall,
  { field, text: before }: CallText,
  text: string,
  others = asked.arguments,
): Arguments => {
  if (inLines(text) !== inLines(before)) return { ...others, [field]: inLines(text) }
  return typeof asked.arguments[field] === 'string' ? { ...others, [field]: before } : others
}
