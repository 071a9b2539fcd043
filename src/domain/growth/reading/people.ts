import { capitalise } from './sentences.ts'

const LONGEST_AUDIENCE = 60

/**
 * An audience that can open a line: a plain noun phrase, neither a list of demographics nor a
 * sentence.
 */
export const audienceIn = (text: string): string | undefined => {
  const phrase = text
    .trim()
    .replace(/^(?:our audience is|my audience is|for|targeting|target:?|aimed at)\s+/i, '')
    .replace(/\.$/, '')
  const isPlain =
    phrase.length >= 4 &&
    phrase.length <= LONGEST_AUDIENCE &&
    !/[\n.!?:;,"“”()[\]{}<>@#/\\|&+]|\b\d|\bI\b|\b(?:we|they|is|our|my|your|a|an|anyone|anybody|everyone|someone|aged)\b/i.test(
      phrase,
    )
  return isPlain && /s\b/.test(phrase) ? capitalise(phrase) : undefined
}

/** Whether the texts say `I` or `we`. */
export const personIn = (texts: readonly string[]): 'I' | 'we' | undefined => {
  const all = texts.join(' ')
  const we = all.match(/\b(?:we|our|us)\b/gi)?.length ?? 0
  const single = all.match(/\b(?:I|my|me|I['’]\w+)\b/g)?.length ?? 0
  if (we === 0 && single === 0) return undefined
  return we > single ? 'we' : 'I'
}
