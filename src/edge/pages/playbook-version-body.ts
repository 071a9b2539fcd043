/**
 * What the page of a playbook's version shows: what it changes and why, the forms to decide, or the
 * decision.
 */
import { type DiffPart, wordDiff } from '#domain/agent/word-diff'
import { type Html, html } from './html.ts'
import { timeText } from './layout.ts'

interface Author {
  kind: 'key' | 'session' | 'channel' | 'agent' | 'system'
  id: string
  personId: string | null
}

export interface Version {
  id: string
  number: number
  content: string
  rationale: string | null
  state: 'draft' | 'active' | 'retired' | 'rejected'
  untrusted: boolean
  author: Author
  decidedBy: Author | null
  decidedAt: string | null
  createdAt: string
}

export interface ShownVersion {
  playbook: { id: string; name: string; slug: string; status: 'active' | 'archived' }
  version: Version
  /** The version that is currently active. Undefined if it is this one. */
  active: Version | undefined
  workspace: string
  /** The name of the person who decided. */
  by?: string | undefined
  /** Why the reader cannot decide. */
  refusal?: string | undefined
}

export const versionTitle = ({ version: { state }, playbook: { name } }: ShownVersion): string => {
  const titles = {
    draft: `Activate this text of ${name}?`,
    active: 'Active',
    retired: 'Retired',
    rejected: 'Rejected',
  }
  return titles[state]
}

const WRITERS: Record<Author['kind'], string> = {
  agent: 'The agent, in a job',
  channel: 'A person, in a channel',
  key: 'An API key',
  session: 'A person',
  system: 'The deployment',
}

const decisionOf = ({ version, by }: ShownVersion): Html | undefined => {
  if (version.state === 'draft' || version.decidedAt === null) return undefined
  const what = version.state === 'rejected' ? 'Rejected' : 'Activated'
  const since = version.state === 'retired' ? ' Another version has taken its place since.' : ''
  return html`<p class="note">${what} by ${by ?? 'somebody who has left the workspace'}, ${timeText(version.decidedAt)}.${since}</p>`
}

const outsideNote = ({ untrusted }: Version): Html | undefined =>
  untrusted
    ? html`<p class="note"><strong>The agent had read text that people outside the workspace wrote before it drafted this.</strong>
Such text can try to steer it. Read the whole text before you activate it.</p>`
    : undefined

const text = (content: string): Html => html`<div class="text" dir="auto">${content}</div>`

const markPart = ({ kind, text }: DiffPart): Html => {
  if (kind === 'added') return html`<ins>${text}</ins>`
  return kind === 'removed' ? html`<del>${text}</del>` : html`${text}`
}

const changes = ({ version, active }: ShownVersion): Html => {
  if (active === undefined) return html`<h2>Text</h2>\n${text(version.content)}`
  const parts = wordDiff(active.content, version.content)
  if (parts === undefined)
    return html`<h2>Text, which has little in common with the active one</h2>\n${text(version.content)}
<h2>Text that is active now</h2>\n${text(active.content)}`
  return html`<h2>What it changes of version ${active.number}, which is active now</h2>
<p class="hint">Underlined words are new. Struck-out words are left out.</p>
<div class="text" dir="auto">${parts.map(markPart)}</div>`
}

/** Whether the page has the forms. */
const canDecide = ({ version, refusal }: ShownVersion): boolean =>
  refusal === undefined && (version.state === 'draft' || version.state === 'retired')

const form = (
  action: string,
  decision: 'activate' | 'reject',
  label: Html,
): Html => html`<form method="post" action="${action}">
<button name="decision" value="${decision}"${decision === 'reject' ? html` class="plain"` : undefined}>${label}</button>
</form>`

const forms = ({ playbook, version }: ShownVersion): Html => {
  const action = `/playbooks/${playbook.id}/versions/${version.id}`
  return html`${form(action, 'activate', html`Activate`)}
${version.state === 'draft' ? form(action, 'reject', html`Reject`) : undefined}`
}

export const versionBody = (shown: ShownVersion): Html => {
  const { playbook, version, workspace, refusal } = shown
  return html`${decisionOf(shown)}${outsideNote(version)}
${refusal === undefined ? undefined : html`<p class="note">${refusal}</p>`}
${changes(shown)}
<dl>
<dt>Why</dt><dd class="text" dir="auto">${version.rationale ?? 'No reason was given'}</dd>
<dt>Playbook</dt><dd>${playbook.name} (${playbook.slug})${playbook.status === 'archived' ? ', archived' : ''}</dd>
<dt>Version</dt><dd>${version.number}</dd>
<dt>Written by</dt><dd>${WRITERS[version.author.kind]}, ${timeText(version.createdAt)}</dd>
<dt>Workspace</dt><dd>${workspace}</dd>
</dl>
${canDecide(shown) ? forms(shown) : undefined}`
}
