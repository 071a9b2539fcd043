/** What differs between two texts, word by word. */
import { useMemo } from 'react'
import { roomToCompare, wordDiff } from '#domain/agent/word-diff'

const TAGS = { same: 'span', added: 'ins', removed: 'del' } as const

const WordDiff = ({ before, after }: { before: string; after: string }) => {
  const parts = useMemo(() => wordDiff(before, after, roomToCompare()), [before, after])
  return (
    <p className="diff" dir="auto">
      {parts === undefined && 'The texts have too little in common to be compared word by word.'}
      {parts?.map(({ kind, text }, index) => {
        const Tag = TAGS[kind]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts are those of one comparison
          <Tag key={index}>{text}</Tag>
        )
      })}
    </p>
  )
}

interface ChangesProps {
  before: string
  after: string
  reset(): void
}

export const YourChanges = ({ before, after, reset }: ChangesProps) => (
  <div className="card">
    <details open>
      <summary>Your changes</summary>
      <WordDiff before={before} after={after} />
    </details>
    <button type="button" className="link" onClick={reset}>
      Back to the draft
    </button>
  </div>
)
