/** What somebody has typed over a text, word by word, and the way back. */
import { WordsChanged } from '../../parts/words-changed.tsx'

interface ChangesProps {
  before: string
  after: string
  reset(): void
}

export const YourChanges = ({ before, after, reset }: ChangesProps) => (
  <div className="card">
    <details open>
      <summary>Your changes</summary>
      <WordsChanged before={before} after={after} called={['Before', 'Yours']} />
    </details>
    <button type="button" className="link" onClick={reset}>
      Back to the draft
    </button>
  </div>
)
