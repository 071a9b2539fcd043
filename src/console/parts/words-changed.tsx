/** Two texts as one: words that are new, and words that are gone. */
import { type DiffPart, wordDiff } from '#domain/agent/word-diff'
import { Exact, ExactText } from './exact-text.tsx'

const Part = ({ part: { kind, text } }: { part: DiffPart }) => {
  if (kind === 'same') return <Exact text={text} />
  const Mark = kind === 'added' ? 'ins' : 'del'
  return (
    <Mark>
      <span className="unseen">{kind === 'added' ? ' new: ' : ' left out: '}</span>
      <Exact text={text} />
      <span className="unseen"> end. </span>
    </Mark>
  )
}

export const ChangedParts = ({
  parts,
  look = 'plain',
}: {
  parts: readonly DiffPart[]
  look?: 'plain' | 'mono'
}) => (
  <div className={`exact changed look-${look}`} dir="auto">
    {parts.map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
      <Part key={at} part={part} />
    ))}
  </div>
)

interface WordsChangedProps {
  before: string
  after: string
  /** What each is called: `As you saw it`. */
  called: [before: string, after: string]
}

/** Texts that have little in common stand one below the other. */
export const WordsChanged = ({ before, after, called }: WordsChangedProps) => {
  const parts = wordDiff(before, after)
  if (parts) return <ChangedParts parts={parts} />
  return (
    <div className="versions">
      {[before, after].map((text, at) => (
        <section key={called[at]} aria-label={called[at]!}>
          <h4>{called[at]}</h4>
          <ExactText text={text} />
        </section>
      ))}
    </div>
  )
}
