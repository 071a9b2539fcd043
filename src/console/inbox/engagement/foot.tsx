/** The decisions about an engagement. */
import { useState } from 'react'
import { ActionButton } from '../../parts/action.tsx'
import { AskToSend } from '../ask-to-send.tsx'
import { Reasons } from '../draft/reasons.tsx'
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

const Buttons = ({
  refused,
  decisions,
  ask,
}: Pick<FootProps, 'refused' | 'decisions'> & { ask(what: 'reject' | 'send'): void }) => (
  <>
    <ActionButton
      calls="growth.engagements.reject"
      shortcut="reject"
      tone="harm"
      act={() => ask('reject')}
    >
      Reject
    </ActionButton>
    <span className="pane-foot-gap" />
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
      act={() => ask('send')}
    >
      Approve and send
    </ActionButton>
  </>
)

export const EngagementFoot = ({ action, author, text, refused, decisions }: FootProps) => {
  const [asked, setAsked] = useState<'reject' | 'send'>()
  const close = () => setAsked(undefined)
  return (
    <div className="pane-foot">
      {asked === 'reject' ? (
        <Reasons choose={decisions.reject} cancel={close} />
      ) : (
        <Buttons refused={refused} decisions={decisions} ask={setAsked} />
      )}
      {asked === 'send' && (
        <AskToSend
          title={`Send this ${action} to @${author ?? '?'} now?`}
          does="Send"
          text={text}
          act={decisions.send}
          close={close}
        />
      )}
    </div>
  )
}
