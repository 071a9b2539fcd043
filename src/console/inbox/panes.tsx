/**
 * What is shown of a thing that waits, and decided about it: a pane a kind, each in a folder of its
 * own and loaded when it is first shown.
 */
import type { ComponentType } from 'react'
import { lazyPage } from '../router/lazy-page.tsx'
import type { EntryKind } from './entries.ts'
import { OwnPagePane } from './own-page.tsx'
import type { PaneProps } from './pane-props.ts'

const DraftPane = lazyPage<PaneProps>(() =>
  import('./draft/pane.tsx').then(({ DraftPane: Pane }) => Pane),
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

export const panes: Record<EntryKind, ComponentType<PaneProps>> = {
  doubt: DoubtPane,
  refused: RefusedPane,
  call: OwnPagePane,
  reply: OwnPagePane,
  playbook: OwnPagePane,
  tool_change: OwnPagePane,
  draft: DraftPane,
  article: DraftPane,
  engagement: EngagementPane,
}
