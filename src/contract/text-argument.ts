/**
 * The argument of a call that is its text. It imports no operation, so that browsers can do the
 * same as the server.
 */

type Arguments = Record<string, unknown>

export interface AskedCall {
  arguments: Arguments
  subject: { text: string | null }
}

export interface CallText {
  /** The argument that takes a changed text. */
  field: string
  text: string
}

/** The text of the call, if this argument takes it. Undefined if there is none. */
export const textAt = (
  field: string | null | undefined,
  { arguments: given, subject }: AskedCall,
): CallText | undefined => {
  if (field === undefined || field === null) return undefined
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
