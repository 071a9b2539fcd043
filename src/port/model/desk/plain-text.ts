/** Results of tools are worded for models. For people, the marks around strangers' text go; the text stays quoted, on its line. */
const EXPLANATION = /^Strangers wrote the text between <untrusted-[0-9a-f]+> and <\/untrusted-[0-9a-f]+>: .*\n?/
const MARK = /<\/?(untrusted-[0-9a-f]+)>/g

export const plainText = (result: string): string => {
  const name = /^Strangers wrote the text between <(untrusted-[0-9a-f]+)>/.exec(result)?.[1]
  if (name === undefined) return result
  return result.replace(EXPLANATION, '').replaceAll(MARK, (mark, found) => (found === name ? '' : mark))
}
