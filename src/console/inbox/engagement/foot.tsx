/** The decisions about an engagement. */
import { useState } from 'react'
import { ActionButton } from '../../parts/action.tsx'
import { AskForAddress } from '../ask-for-address.tsx'
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
  /** Why it can be done by hand alone. */
  byHand: string | undefined
  decisions: EngagementDecisions
}

type Asked = 'send' | 'done' | undefined

const Approvals = ({
  refused,
  byHand,
  decisions,
  ask,
}: Pick<FootProps, 'refused' | 'byHand' | 'decisions'> & { ask(what: Asked): void }) => (
  <>
    {byHand === undefined && (
      <ActionButton
        calls="growth.engagements.approve"
        shortcut="approve"
        refused={refused}
        act={decisions.approve}
      >
        Approve
      </ActionButton>
    )}
    <ActionButton
      calls="growth.engagements.approve"
      shortcut="approveForSlot"
      refused={byHand ?? refused}
      tone={byHand === undefined ? 'go' : 'plain'}
      act={() => ask('send')}
    >
      Approve and send
    </ActionButton>
    {byHand !== undefined && (
      <ActionButton
        calls="growth.engagements.done"
        shortcut="didIt"
        tone="go"
        act={() => ask('done')}
      >
        I did it
      </ActionButton>
    )}
  </>
)

export const EngagementFoot = ({ action, author, text, ...props }: FootProps) => {
  const { refused, byHand, decisions } = props
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  return (
    <>
      <RejectFoot calls="growth.engagements.reject" reject={decisions.reject}>
        <Approvals {...{ refused, byHand, decisions }} ask={setAsked} />
      </RejectFoot>
      {asked === 'send' && (
        <AskToSend
          title={
            <>
              Send this {action} to <bdi>@{author ?? '?'}</bdi> now?
            </>
          }
          does="Send"
          text={text}
          act={decisions.send}
          close={close}
        />
      )}
      {asked === 'done' && (
        <AskForAddress
          title={`You did this ${action} by hand?`}
          says="It becomes done, with this address. Nothing is sent, and this cannot be taken back."
          does="I did it"
          known=""
          act={decisions.didIt}
          close={close}
        />
      )}
    </>
  )
}
