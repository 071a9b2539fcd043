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

export const panes: Record<EntryKind, ComponentType<PaneProps>> = {
  doubt: OwnPagePane,
  refused: OwnPagePane,
  call: OwnPagePane,
  reply: OwnPagePane,
  playbook: OwnPagePane,
  tool_change: OwnPagePane,
  draft: DraftPane,
  article: DraftPane,
  engagement: OwnPagePane,
}
