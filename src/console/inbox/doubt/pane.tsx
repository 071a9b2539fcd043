/** A doubt: nobody knows yet whether it is on the network. */
import { useState } from 'react'
import { mayCall } from '../../api/operations.ts'
import { useRead } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import { ReadView } from '../../parts/states.tsx'
import { ItIsThere, marksAsSent } from '../it-is-there.tsx'
import type { PaneProps } from '../pane-props.ts'
import { BothSides, Looking } from './both-sides.tsx'
import { type Doubtful, doubtfulEngagement, doubtfulItem } from './doubtful.ts'
import { useSettling } from './use-settling.ts'
import { WaysOn } from './ways-on.tsx'

const Doubt = ({ doubtful, next }: { doubtful: Doubtful; next(): void }) => {
  const decisions = useSettling(doubtful, next)
  const [picked, setPicked] = useState<string>()
  return (
    <>
      <div className="pane-body">
        <div className="pane-title">
          {doubtful.isOpen && (
            <p className="state care">{doubtful.inReview ? 'You must look' : 'We are looking'}</p>
          )}
          <h2>{doubtful.isOpen ? 'Nobody knows yet' : 'It is no longer in doubt'}</h2>
        </div>
        {doubtful.isOpen && !doubtful.inReview && <Looking doubtful={doubtful} />}
        {doubtful.isOpen && doubtful.inReview && (
          <p className="in-doubt">
            The timeline does not prove it. Is it there? We never send it again by ourselves.
          </p>
        )}
        <BothSides
          doubtful={doubtful}
          pick={setPicked}
          picks={doubtful.isOpen && mayCall(boot.session.role, marksAsSent[doubtful.record])}
        />
      </div>
      {doubtful.isOpen && (
        <WaysOn
          doubtful={doubtful}
          decisions={decisions}
          isThere={() => setPicked('')}
          later={next}
        />
      )}
      {picked !== undefined && (
        <ItIsThere
          record={doubtful.record}
          known={picked}
          settle={decisions.isThere}
          close={() => setPicked(undefined)}
        />
      )}
    </>
  )
}

const PostDoubt = ({ id, next }: Pick<PaneProps, 'id' | 'next'>) => {
  const read = useRead('growth.items.get', { id })
  return (
    <ReadView read={read} what="The post" lines={6}>
      {read.data && <Doubt doubtful={doubtfulItem(read.data.item)} next={next} />}
    </ReadView>
  )
}

const EngagementDoubt = ({ id, next }: Pick<PaneProps, 'id' | 'next'>) => {
  const read = useRead('growth.engagements.get', { id })
  return (
    <ReadView read={read} what="The engagement" lines={6}>
      {read.data && <Doubt doubtful={doubtfulEngagement(read.data.engagement)} next={next} />}
    </ReadView>
  )
}

/** Without an entry, as on a link to what waits no longer, it is read as a post. */
export const DoubtPane = ({ id, entry, next }: PaneProps) =>
  entry?.record === 'engagement' ? (
    <EngagementDoubt id={id} next={next} />
  ) : (
    <PostDoubt id={id} next={next} />
  )
