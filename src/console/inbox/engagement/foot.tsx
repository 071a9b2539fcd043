/** The decisions about an engagement. */
import { useState } from 'react'
import { ActionButton } from '../../parts/action.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { RejectFoot } from '../reject-foot.tsx'
import type { EngagementDecisions } from './use-deciding.ts'

interface FootProps {
  /** `reply` and the like. */
  action: string
  author: string | null
  text: string
  /** Why it cannot be approved. */
  refused: string | undefined
  decisions: EngagementDecisions
}

export const EngagementFoot = ({ action, author, text, refused, decisions }: FootProps) => {
  const [asks, setAsks] = useState(false)
  return (
    <>
      <RejectFoot calls="growth.engagements.reject" reject={decisions.reject}>
        <ActionButton
          calls="growth.engagements.approve"
          shortcut="approve"
          refused={refused}
          act={decisions.approve}
        >
          Approve
        </ActionButton>
        <ActionButton
          calls="growth.engagements.approve"
          shortcut="approveForSlot"
          refused={refused}
          tone="go"
          act={() => setAsks(true)}
        >
          Approve and send
        </ActionButton>
      </RejectFoot>
      {asks && (
        <AskToSend
          title={`Send this ${action} to @${author ?? '?'} now?`}
          does="Send"
          text={text}
          act={decisions.send}
          close={() => setAsks(false)}
        />
      )}
    </>
  )
}
