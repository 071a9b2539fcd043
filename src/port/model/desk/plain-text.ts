/**
 * Results of tools are worded for models. For people, the marks around strangers' text are removed.
 */

/** If some of a result came from outside the workspace, all of it is one JSON string. */
const WRAPPED = /^(error: )?(\{"from":"(?:[^"\\]|\\.)*","untrusted":"(?:[^"\\]|\\.)*"\})/
const EXPLANATION =
  /^Strangers wrote the text between <(untrusted-[0-9a-f]+)> and <\/untrusted-[0-9a-f]+>: .*\n?/

const unwrapJson = (text: string): string =>
  text.replace(
    WRAPPED,
    (_, prefix: string | undefined, json: string) =>
      `${prefix ?? ''}${(JSON.parse(json) as { untrusted: string }).untrusted}`,
  )

/**
 * Inside, each text of a stranger stays a quoted string on one line, so that it cannot look like
 * part of the answer.
 */
export const describeResult = (result: string): string => {
  const text = unwrapJson(result)
  const name = EXPLANATION.exec(text)?.[1]
  return name === undefined
    ? text
    : text.replace(EXPLANATION, '').replaceAll(new RegExp(`</?${name}>`, 'g'), '')
}
