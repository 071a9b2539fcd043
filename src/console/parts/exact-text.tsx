/** A text exactly as it is: characters that nobody would see are boxed and named. */
import { codePointOf, replaceUnseen } from '#kernel/unseen'
import { unseenNames } from './unseen-names.ts'

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

const Unseen = ({ run }: { run: string }) => {
  const [first = ''] = run
  const count = [...run].length
  const what = new Set(run).size > 1 ? 'unseen characters' : unseenNames(first)
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

/** Within a sentence of ours, around which it turns nothing. */
export const ExactWords = ({ text }: { text: string }) => (
  <bdi>
    <Exact text={text} />
  </bdi>
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
