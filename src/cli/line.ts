/**
 * Joins words into one line, quoted as for a POSIX shell, and splits a line again. Nothing in a
 * line is expanded.
 */
import { misuse } from './failure.ts'

const PLAIN = /^[\w@%+=:,./-]+$/

const quote = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const lineOf = (words: readonly string[]): string => words.map(quote).join(' ')

/**
 * A part of a word: in single quotes, in double quotes, an escaped character, or plain characters.
 */
const PART = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y

const partOf = ([, single, double, escaped, plain]: RegExpExecArray): string =>
  single ?? double?.replaceAll(/\\([\\"$`])/g, '$1') ?? escaped ?? plain ?? ''

/** Throws a `Failure` if a quotation mark is not closed. */
export const splitLine = (line: string): string[] => {
  const words: string[] = []
  const [spaces, part] = [/\s*/y, new RegExp(PART)]
  for (let at = 0; ; ) {
    spaces.lastIndex = at
    at += spaces.exec(line)![0].length
    if (at === line.length) return words
    let word = ''
    for (part.lastIndex = at; at < line.length && !/\s/.test(line[at]!); at = part.lastIndex) {
      const found = part.exec(line)
      if (!found)
        return misuse(
          `a ${line[at] === '\\' ? 'backslash ends the line' : `quotation mark is not closed: ${line.slice(at)}`}`,
        )
      word += partOf(found)
    }
    words.push(word)
  }
}
