/** What a person can say of a doubt. Nothing here sends before the timeline is read once more. */
import { useState } from 'react'
import { ActionButton } from '../../parts/action.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import type { Doubtful } from './doubtful.ts'
import type { DoubtDecisions } from './use-settling.ts'

interface WaysProps {
  doubtful: Doubtful
  decisions: DoubtDecisions
  /** Opens the dialog about its address. */
  isThere(): void
}

const PostWays = ({ decisions, isThere, ask }: WaysProps & { ask(): void }) => (
  <>
    <ActionButton calls="growth.items.markPosted" shortcut="itIsThere" tone="go" act={isThere}>
      Yes, it is there
    </ActionButton>
    <ActionButton calls="growth.items.postNow" shortcut="postAgain" act={ask}>
      No, post it again
    </ActionButton>
    <ActionButton calls="growth.items.duplicate" shortcut="writeAnew" act={decisions.writeAnew}>
      No, write it anew
    </ActionButton>
  </>
)

const EngagementWays = ({ decisions, isThere }: WaysProps) => (
  <>
    <ActionButton calls="growth.engagements.done" shortcut="itIsThere" tone="go" act={isThere}>
      Yes, it was done
    </ActionButton>
    <ActionButton calls="growth.engagements.reject" shortcut="notThere" act={decisions.notDone}>
      No, it was not done
    </ActionButton>
  </>
)

export const WaysOn = (props: WaysProps & { later(): void }) => {
  const { doubtful, decisions, later } = props
  const [asks, setAsks] = useState(false)
  return (
    <div className="pane-foot">
      <ActionButton shortcut="later" act={later}>
        Later
      </ActionButton>
      <span className="pane-foot-gap" />
      {doubtful.record === 'item' ? (
        <PostWays {...props} ask={() => setAsks(true)} />
      ) : (
        <EngagementWays {...props} />
      )}
      {asks && (
        <AskToSend
          title="Post it again?"
          does="Read, then post"
          text={doubtful.about}
          act={decisions.postAgain}
          close={() => setAsks(false)}
        >
          We read the timeline once more first. If we find it, nothing is sent.
        </AskToSend>
      )}
    </div>
  )
}
