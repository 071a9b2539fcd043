/** A call that the agent asks for: what it would do, why it is asked, and the decision. */
import { useState } from 'react'
import { decidersText } from '#kernel/deciders'
import { useRead } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import { useOffered } from '../../frame/commands.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { ActionButton } from '../../parts/action.tsx'
import { useNow } from '../../parts/clock.tsx'
import { Exact } from '../../parts/exact-text.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { ReadView } from '../../parts/states.tsx'
import { lookAgain } from '../followed-calls.tsx'
import { PaneBody } from '../pane-body.tsx'
import type { PaneProps } from '../pane-props.ts'
import { useNews } from '../use-news.ts'
import { CallBody } from './body.tsx'
import { ChangedSince } from './changed.tsx'
import { CallContext } from './context.tsx'
import { CallDetails, CallHead } from './head.tsx'
import { type CallToDecide, callNews, callState } from './state.ts'
import { useCallDecision } from './use-deciding.ts'
import { type CallEdit, type ToolOfCall, useEdit } from './use-edit.ts'

/** In characters, as the API has it. */
const LONGEST_REASON = 500

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** What a rule would allow from now on; undefined if this person cannot set one. */
const rememberText = (call: CallToDecide, tool: ToolOfCall | undefined): string | undefined => {
  const { role } = boot.session
  if (role !== 'owner' && role !== 'approver') return undefined
  if (tool?.class === 'outside_write')
    return `Do not ask again: the agent may call ${call.tool_name} until the tool changes`
  if (tool?.class !== 'outside_read') return undefined
  const url = String(call.arguments.url)
  return URL.canParse(url) ? `Do not ask again: the agent may read ${new URL(url).host}` : undefined
}

/** Why this person cannot decide. */
const refusalOf = ({ may_decide: may, deciders }: CallToDecide): string | undefined =>
  may || deciders === null ? undefined : sentence(decidersText(deciders))

const Remember = ({ says, on, set }: { says: string; on: boolean; set(on: boolean): void }) => (
  <label className="remember">
    <input
      type="checkbox"
      name="remember"
      checked={on}
      onChange={({ target }) => set(target.checked)}
    />
    <span>
      <Exact text={says} />
    </span>
  </label>
)

interface FootProps {
  edit: CallEdit
  isEditing: boolean
  refused: string | undefined
  busy: boolean
  refuse(): void
  allow(): void
}

const Foot = ({ edit, isEditing, refused, busy, refuse, allow }: FootProps) => {
  const says = edit.typed === undefined ? 'Allow once' : 'Allow with my changes'
  useOffered(refused === undefined ? { id: 'allow', says, act: allow } : undefined)
  return (
    <>
      <ActionButton shortcut="refuseCall" tone="harm" refused={refused} act={refuse}>
        Refuse
      </ActionButton>
      {isEditing ? (
        <ActionButton act={edit.drop}>Drop my changes</ActionButton>
      ) : (
        <ActionButton shortcut="editCall" refused={refused} act={edit.open}>
          Edit
        </ActionButton>
      )}
      <ActionButton shortcut="allowCall" tone="go" refused={refused} busy={busy} act={allow}>
        {says}
      </ActionButton>
    </>
  )
}

const Refusing = ({
  deciding,
  close,
}: {
  deciding: ReturnType<typeof useCallDecision>
  close(): void
}) => (
  <ReasonDialog
    title="Refuse this call?"
    hint="The agent is told the reason and goes on without the call. This cannot be taken back."
    does="Refuse"
    longest={LONGEST_REASON}
    busy={deciding.busy}
    act={(reason) => {
      close()
      deciding.refuse(reason)
    }}
    close={close}
  />
)

interface DecideProps {
  call: CallToDecide
  tool: ToolOfCall | undefined
  next(): void
}

const Decide = ({ call, tool, next }: DecideProps) => {
  const now = useNow()
  const { isOpen = false } = callState(call, now)
  const edit = useEdit(call, tool)
  const own = useNews(isOpen, () => callNews(call))
  const deciding = useCallDecision(call, edit, { next, own })
  const [refuses, setRefuses] = useState(false)
  const [remember, setRemember] = useState(false)
  const isEditing = isOpen && edit.isOpen
  const allow = () => deciding.allow(remember)
  const refused = refusalOf(call)
  const remembers = refused === undefined ? rememberText(call, tool) : undefined
  useShortcut('endCallEditing', isEditing ? edit.close : undefined)
  useShortcut('allowFromEditor', isEditing && refused === undefined ? allow : undefined)
  return (
    <>
      <PaneBody says="The call">
        <CallHead call={call} now={now} />
        {isOpen && deciding.stale && <ChangedSince call={call} told={deciding.stale} />}
        <CallBody {...{ call, tool, edit, isEditing }} flaws={deciding.flaws} />
        <CallContext call={call} />
        <CallDetails call={call} />
      </PaneBody>
      {isOpen && (
        <div className="pane-foot">
          {refused !== undefined && <p className="foot-note soft">{refused}</p>}
          {remembers && <Remember says={remembers} on={remember} set={setRemember} />}
          <Foot
            {...{ edit, isEditing, refused, allow }}
            busy={deciding.busy}
            refuse={() => setRefuses(true)}
          />
        </div>
      )}
      {refuses && <Refusing deciding={deciding} close={() => setRefuses(false)} />}
    </>
  )
}

export const CallPane = ({ id, next }: PaneProps) => {
  const read = useRead('agent.approvals.get', { id }, { again: lookAgain })
  const call = read.data?.approval
  const tool = useRead(
    'agent.tools.get',
    { name: call?.tool_name ?? '' },
    { enabled: call !== undefined },
  )
  if (call && !tool.isPending) return <Decide call={call} tool={tool.data?.tool} next={next} />
  return (
    <PaneBody says="The call">
      <ReadView read={read} what="The call" lines={6}>
        {null}
      </ReadView>
    </PaneBody>
  )
}
