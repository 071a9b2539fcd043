/** Two people wrote at once: both texts, who made the other, and the choice. Nothing is lost. */
import { useRead } from '../../api/queries.ts'
import { When } from '../../parts/when.tsx'
import { writerName } from '../../parts/writer-name.ts'
import type { StoredText } from '../../typed/use-typed-over.ts'

interface Conflict {
  record: StoredText & { id: string }
  mine: string
  /** Keeps what was typed, over the other text. */
  keepMine(): void
  takeTheirs(): void
}

interface TheirVersion {
  number: number
  written_by: Parameters<typeof writerName>[0]
  written_at: string
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

const Sides = ({
  record,
  mine,
  keepMine,
  takeTheirs,
  versions = [],
}: Conflict & { versions: readonly TheirVersion[] | undefined }) => {
  const theirs = versions.find(({ number }) => number === record.revision)
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

const VERSIONS = { limit: 100 }

const OfItem = (conflict: Conflict) => {
  const { data } = useRead('growth.items.revisions', { id: conflict.record.id, ...VERSIONS })
  return <Sides {...conflict} versions={data?.revisions} />
}

const OfEngagement = (conflict: Conflict) => {
  const { data } = useRead('growth.engagements.revisions', { id: conflict.record.id, ...VERSIONS })
  return <Sides {...conflict} versions={data?.revisions} />
}

export const BothTexts = ({ of, ...conflict }: Conflict & { of: 'item' | 'engagement' }) => {
  const Read = of === 'item' ? OfItem : OfEngagement
  return <Read {...conflict} />
}
