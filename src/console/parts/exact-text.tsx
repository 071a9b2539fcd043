/** A text exactly as it is: characters that nobody would see are boxed and named. */
import { codePointOf, replaceUnseen } from '#kernel/unseen'

const NAMES: Record<string, string> = {
  'U+00AD': 'soft hyphen',
  'U+200B': 'zero-width space',
  'U+200C': 'zero-width non-joiner',
  'U+200D': 'zero-width joiner',
  'U+200E': 'left-to-right mark',
  'U+200F': 'right-to-left mark',
  'U+202A': 'left-to-right embedding',
  'U+202B': 'right-to-left embedding',
  'U+202C': 'end of embedding',
  'U+202D': 'left-to-right override',
  'U+202E': 'right-to-left override',
  'U+2066': 'left-to-right isolate',
  'U+2067': 'right-to-left isolate',
  'U+2069': 'end of isolate',
  'U+FEFF': 'byte order mark',
}

interface Run {
  text: string
  isUnseen: boolean
}

const runsOf = (text: string): Run[] => {
  const runs: Run[] = []
  const add = (isUnseen: boolean) => (part: string) => {
    if (part !== '') runs.push({ text: part, isUnseen })
    return ''
  }
  replaceUnseen(text, add(true), add(false))
  return runs
}

const nameOf = (character: string): string => {
  const code = codePointOf(character)
  return NAMES[code] ?? `character ${code}`
}

const Unseen = ({ run }: { run: string }) => {
  const [first = ''] = run
  const count = [...run].length
  const what = new Set(run).size > 1 ? 'unseen characters' : nameOf(first)
  return (
    <span className="unseen-run" title={count > 1 ? `${what}, ${count} times` : what}>
      {codePointOf(first)}
      {count > 1 && ` ×${count}`}
      <span className="unseen">: {what}</span>
    </span>
  )
}

/** Within a paragraph or another element that has `dir`. */
export const Exact = ({ text }: { text: string }) =>
  runsOf(text).map(({ text: part, isUnseen }, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the runs of one text have no other name
    isUnseen ? <Unseen key={at} run={part} /> : part,
  )

interface ExactTextProps {
  text: string
  /** `post`: as large as texts that go out. */
  look?: 'post' | 'plain' | 'mono'
}

export const ExactText = ({ text, look = 'plain' }: ExactTextProps) => (
  <p className={`exact look-${look}`} dir="auto">
    <Exact text={text} />
  </p>
)
