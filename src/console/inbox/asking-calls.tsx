/** Calls of the agent that ask to decide a draft: they stand in the draft's entry. */
import { hrefOf } from '../router/paths.ts'
import { PlaceLink } from '../router/router.tsx'
import type { InboxEntry } from './entries.ts'

const DEEDS: Record<string, string> = {
  growth_approve_item: 'approve this',
  growth_reject_item: 'reject this',
  growth_approve_engagement: 'approve this',
  growth_reject_engagement: 'reject this',
}

export const AskingCalls = ({ entry }: { entry: InboxEntry | undefined }) =>
  entry?.calls.map(({ id, tool_name: tool, can_decide: can }) => (
    <p key={id} className="asking-call">
      <strong>The agent asks to {DEEDS[tool] ?? 'decide this'}.</strong>{' '}
      <PlaceLink href={hrefOf('entry', { kind: 'call', id })}>
        {can ? 'Look at its call, to allow or refuse it' : 'Look at its call'}
      </PlaceLink>
    </p>
  ))
