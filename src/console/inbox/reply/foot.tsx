/** What can be decided about a reply. */
import { ActionButton } from '../../parts/action.tsx'
import { AskFirst } from '../../parts/dialog.tsx'
import { ExactWords } from '../../parts/exact-text.tsx'
import type { Typing } from '../../typed/use-typing.ts'
import { isHidden, type ReplyToDecide } from './state.ts'
import type { useReplyDecision } from './use-deciding.ts'

type Deciding = ReturnType<typeof useReplyDecision>

interface FootProps {
  reply: ReplyToDecide
  deciding: Deciding
  discard(): void
}

export const UnknownFoot = ({ deciding }: Pick<FootProps, 'deciding'>) => (
  <>
    <ActionButton
      calls="agent.channelReplies.settle"
      busy={deciding.busy}
      act={deciding.notArrived}
    >
      It did not arrive: send that part again
    </ActionButton>
    <ActionButton
      calls="agent.channelReplies.settle"
      tone="go"
      busy={deciding.busy}
      act={deciding.arrived}
    >
      It arrived
    </ActionButton>
  </>
)

interface HeldFootProps extends FootProps {
  isEditing: boolean
  typing: Typing
  edit(): void
  drop(): void
}

export const HeldFoot = ({ reply, deciding, isEditing, typing, ...does }: HeldFootProps) => {
  const refused = isHidden(reply)
    ? 'Only people who see its conversation can change it.'
    : undefined
  return (
    <>
      <ActionButton
        calls="agent.channelReplies.discard"
        shortcut="discardReply"
        tone="harm"
        act={does.discard}
      >
        Discard
      </ActionButton>
      {isEditing ? (
        <ActionButton act={does.drop}>Drop my changes</ActionButton>
      ) : (
        <ActionButton
          calls="agent.channelReplies.send"
          shortcut="editReply"
          refused={refused}
          act={does.edit}
        >
          Edit
        </ActionButton>
      )}
      <ActionButton
        calls="agent.channelReplies.send"
        shortcut="sendReply"
        tone="go"
        busy={deciding.busy}
        refused={typing.text?.trim() === '' ? 'A reply needs words.' : undefined}
        act={deciding.send}
      >
        {typing.text === undefined ? 'Send' : 'Send my text'}
      </ActionButton>
    </>
  )
}

export const Discarding = ({
  reply,
  deciding,
  close,
}: {
  reply: ReplyToDecide
  deciding: Deciding
  close(): void
}) => (
  <AskFirst
    title="Discard this reply?"
    does="Discard"
    tone="harm"
    busy={deciding.busy}
    act={() => {
      close()
      deciding.discard()
    }}
    close={close}
  >
    <p dir="auto">
      Nothing of it is sent to <ExactWords text={reply.recipient} />. This cannot be taken back.
    </p>
  </AskFirst>
)
