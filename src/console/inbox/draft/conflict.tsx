/** Two people wrote at once: both texts, who made the other, and the choice. Nothing is lost. */
import { useRead } from '../../api/queries.ts'
import { When } from '../../parts/when.tsx'
import { writerName } from '../../parts/writer-name.ts'
import type { DraftItem } from './item.ts'

interface ConflictProps {
  item: DraftItem
  mine: string
  /** Keeps what was typed, over the other text. */
  keepMine(): void
  takeTheirs(): void
}

const VERSIONS = { limit: 100 }

export const BothTexts = ({ item, mine, keepMine, takeTheirs }: ConflictProps) => {
  const { data } = useRead('growth.items.revisions', { id: item.id, ...VERSIONS })
  const theirs = data?.revisions.find(({ number }) => number === item.revision)
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
        <div>
          <h3>Yours, not saved</h3>
          <p className="plain-text" dir="auto">
            {mine}
          </p>
          <button type="button" className="action plain" onClick={keepMine}>
            Go on with yours
          </button>
        </div>
        <div>
          <h3>Theirs, stored</h3>
          <p className="plain-text" dir="auto">
            {item.body}
          </p>
          <button type="button" className="action plain" onClick={takeTheirs}>
            Take theirs
          </button>
        </div>
      </div>
    </section>
  )
}
