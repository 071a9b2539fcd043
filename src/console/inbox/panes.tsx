/**
 * What is shown of a thing that waits, and decided about it: a pane a kind, each in a folder of its
 * own and loaded when it is first shown.
 */
import type { ComponentType } from 'react'
import { lazyPage } from '../router/lazy-page.tsx'
import type { EntryKind } from './entries.ts'
import type { PaneProps } from './pane-props.ts'

const DraftPane = lazyPage<PaneProps>(() =>
  import('./draft/pane.tsx').then(({ DraftPane: Pane }) => Pane),
)

const RestoredPane = lazyPage<PaneProps>(() =>
  import('./restored/pane.tsx').then(({ RestoredPane: Pane }) => Pane),
)
const DoubtPane = lazyPage<PaneProps>(() =>
  import('./doubt/pane.tsx').then(({ DoubtPane: Pane }) => Pane),
)
const RefusedPane = lazyPage<PaneProps>(() =>
  import('./refused/pane.tsx').then(({ RefusedPane: Pane }) => Pane),
)
const EngagementPane = lazyPage<PaneProps>(() =>
  import('./engagement/pane.tsx').then(({ EngagementPane: Pane }) => Pane),
)
const CallPane = lazyPage<PaneProps>(() =>
  import('./call/pane.tsx').then(({ CallPane: Pane }) => Pane),
)
const ReplyPane = lazyPage<PaneProps>(() =>
  import('./reply/pane.tsx').then(({ ReplyPane: Pane }) => Pane),
)
const PlaybookPane = lazyPage<PaneProps>(() =>
  import('./playbook/pane.tsx').then(({ PlaybookPane: Pane }) => Pane),
)
const ToolChangePane = lazyPage<PaneProps>(() =>
  import('./tool-change/pane.tsx').then(({ ToolChangePane: Pane }) => Pane),
)

export const panes: Record<EntryKind, ComponentType<PaneProps>> = {
  restored: RestoredPane,
  doubt: DoubtPane,
  refused: RefusedPane,
  call: CallPane,
  reply: ReplyPane,
  playbook: PlaybookPane,
  tool_change: ToolChangePane,
  draft: DraftPane,
  article: DraftPane,
  engagement: EngagementPane,
}
