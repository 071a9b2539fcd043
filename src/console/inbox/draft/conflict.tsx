/** Two people wrote at once: both texts, who made the other, and the choice. Nothing is lost. */
import { When } from '../../parts/when.tsx'
import { writerName } from '../../parts/writer-name.ts'
import type { StoredText } from '../../typed/use-typed-over.ts'
import { type TextOf, useRevisions } from './use-revisions.ts'

interface ConflictProps {
  of: TextOf
  record: StoredText & { id: string }
  mine: string
  /** Keeps what was typed, over the other text. */
  keepMine(): void
  takeTheirs(): void
}

interface SideProps {
  heading: string
  text: string
  choice: string
  choose(): void
}

const Side = ({ heading, text, choice, choose }: SideProps) => (
  <div>
    <h3>{heading}</h3>
    <p className="plain-text" dir="auto">
      {text}
    </p>
    <button type="button" className="action plain" onClick={choose}>
      {choice}
    </button>
  </div>
)

export const BothTexts = ({ of, record, mine, keepMine, takeTheirs }: ConflictProps) => {
  const { data } = useRevisions(of, record.id)
  const theirs = data?.revisions.find(({ number }) => number === record.revision)
  return (
    <section className="card both" role="alert" aria-label="Two texts">
      <h2>
        <bdi>{writerName(theirs?.written_by)}</bdi> wrote another text
        {theirs && (
          <>
            {' '}
            at <When at={theirs.written_at} clock />
          </>
        )}
      </h2>
      <div className="both-texts">
        <Side heading="Yours, not saved" text={mine} choice="Go on with yours" choose={keepMine} />
        <Side
          heading="Theirs, stored"
          text={record.body ?? ''}
          choice="Take theirs"
          choose={takeTheirs}
        />
      </div>
    </section>
  )
}
