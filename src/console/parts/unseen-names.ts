/** What characters that nobody sees are called. */
import { codePointOf } from '#kernel/unseen'

const NAMES: Record<string, string> = {
  '\u00ad': 'soft hyphen',
  '\u034f': 'combining grapheme joiner',
  '\u061c': 'Arabic letter mark',
  '\u200b': 'zero-width space',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'end of embedding',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2060': 'word joiner',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'end of isolate',
  '\ufe0e': 'text variation selector',
  '\ufe0f': 'emoji variation selector',
  '\ufeff': 'byte order mark',
}

/** The names of a run's characters, each once. */
export const unseenNames = (run: string): string =>
  [...new Set([...run].map((one) => NAMES[one] ?? codePointOf(one)))].join(', ')
