/**
 * Every shortcut of the console. The handlers, the help and `aria-keyshortcuts` are loops over this
 * list.
 *
 * A chord is `Z`, `Shift+P`, `Mod+K` (⌘ on a Mac, Ctrl elsewhere) or `G I`, one key after another.
 */

/** `everywhere`, or the page, or the part of it, in which the key has this meaning. */
type KeyScope =
  | 'everywhere'
  | 'inbox'
  | 'batch'
  | 'draft'
  | 'editor'
  | 'rejecting'
  | 'call'
  | 'callEditor'
  | 'reply'
  | 'replyEditor'
  | 'playbook'
  | 'toolChange'
  | 'dialog'
  | 'doubt'

export interface Shortcut {
  chord: string
  /** Empty where the line of another key says it too. */
  says: string
  scope: KeyScope
  /** Also while somebody types. */
  typing?: true
}

export const shortcuts = {
  palette: { chord: 'Mod+K', says: 'Places and commands', scope: 'everywhere', typing: true },
  help: { chord: '?', says: 'All keys of this page', scope: 'everywhere' },
  undo: { chord: 'Z', says: 'Undo', scope: 'everywhere' },
  pause: { chord: 'Shift+P', says: 'Pause all automation', scope: 'everywhere' },
  goInbox: { chord: 'G I', says: 'Go to the inbox', scope: 'everywhere' },
  goSettings: { chord: 'G ,', says: 'Go to the settings', scope: 'everywhere' },
  next: { chord: 'J', says: 'Next', scope: 'inbox' },
  previous: { chord: 'K', says: 'Previous', scope: 'inbox' },
  back: { chord: 'Escape', says: 'Back to the list', scope: 'inbox' },
  search: { chord: '/', says: 'Search', scope: 'inbox' },
  select: { chord: 'Space', says: 'Select', scope: 'inbox' },
  selectNext: { chord: 'Shift+J', says: 'Select, and the next', scope: 'inbox' },
  selectPrevious: { chord: 'Shift+K', says: 'Select, and the previous', scope: 'inbox' },
  sideBySide: { chord: 'V', says: 'A batch side by side, or the list', scope: 'inbox' },
  pick1: { chord: '1', says: 'The first draft, and so on to 9', scope: 'batch' },
  pick2: { chord: '2', says: '', scope: 'batch' },
  pick3: { chord: '3', says: '', scope: 'batch' },
  pick4: { chord: '4', says: '', scope: 'batch' },
  pick5: { chord: '5', says: '', scope: 'batch' },
  pick6: { chord: '6', says: '', scope: 'batch' },
  pick7: { chord: '7', says: '', scope: 'batch' },
  pick8: { chord: '8', says: '', scope: 'batch' },
  pick9: { chord: '9', says: '', scope: 'batch' },
  write: { chord: 'C', says: 'Write a post', scope: 'inbox' },
  approveForSlot: { chord: 'S', says: 'Approve for the chosen time', scope: 'draft' },
  approve: { chord: 'A', says: 'Approve without a time', scope: 'draft' },
  postNow: { chord: 'P', says: 'Approve and post now', scope: 'draft' },
  edit: { chord: 'E', says: 'Edit', scope: 'draft' },
  reject: { chord: 'X', says: 'Reject', scope: 'draft' },
  redraft: { chord: 'R', says: 'Have it written again', scope: 'draft' },
  comment: { chord: 'M', says: 'Comment', scope: 'draft' },
  didIt: { chord: 'D', says: 'I did it by hand', scope: 'draft' },
  tag: { chord: 'T', says: 'Tag', scope: 'draft' },
  laterSlot: { chord: ']', says: 'Later slot', scope: 'draft' },
  earlierSlot: { chord: '[', says: 'Earlier slot', scope: 'draft' },
  approveFromEditor: { chord: 'Mod+Enter', says: 'Approve', scope: 'editor', typing: true },
  endEditing: { chord: 'Escape', says: 'End editing', scope: 'editor', typing: true },
  reason1: { chord: '1', says: 'First reason', scope: 'rejecting' },
  reason2: { chord: '2', says: 'Second reason', scope: 'rejecting' },
  reason3: { chord: '3', says: 'Third reason', scope: 'rejecting' },
  reason4: { chord: '4', says: 'Fourth reason', scope: 'rejecting' },
  allowCall: { chord: 'A', says: 'Allow once', scope: 'call' },
  editCall: { chord: 'E', says: 'Edit the text or the arguments', scope: 'call' },
  refuseCall: { chord: 'X', says: 'Refuse, with a reason', scope: 'call' },
  allowFromEditor: { chord: 'Mod+Enter', says: 'Allow once', scope: 'callEditor', typing: true },
  endCallEditing: { chord: 'Escape', says: 'End editing', scope: 'callEditor', typing: true },
  sendReply: { chord: 'S', says: 'Send', scope: 'reply' },
  editReply: { chord: 'E', says: 'Edit', scope: 'reply' },
  itIsThere: { chord: 'Y', says: 'It is there', scope: 'doubt' },
  notThere: { chord: 'N', says: 'It was not done', scope: 'doubt' },
  postAgain: { chord: 'P', says: 'Post it again', scope: 'doubt' },
  writeAnew: { chord: 'W', says: 'Write it anew', scope: 'doubt' },
  later: { chord: 'L', says: 'Later', scope: 'doubt' },
  discardReply: { chord: 'X', says: 'Discard', scope: 'reply' },
  sendFromEditor: { chord: 'Mod+Enter', says: 'Send', scope: 'replyEditor', typing: true },
  endReplyEditing: { chord: 'Escape', says: 'End editing', scope: 'replyEditor', typing: true },
  activatePlaybook: { chord: 'A', says: 'Activate', scope: 'playbook' },
  rejectPlaybook: { chord: 'X', says: 'Reject', scope: 'playbook' },
  allowTool: { chord: 'A', says: 'Allow as it is now', scope: 'toolChange' },
  askTool: { chord: 'E', says: 'Ask each time', scope: 'toolChange' },
  denyTool: { chord: 'X', says: 'Never use it', scope: 'toolChange' },
  confirm: { chord: 'Mod+Enter', says: 'Do it', scope: 'dialog', typing: true },
} as const satisfies Record<string, Shortcut>

export type ShortcutId = keyof typeof shortcuts

export const shortcutOf = (id: ShortcutId): Shortcut => shortcuts[id]

/** Scopes that are active at the same time as `scope`, the innermost first. */
const AROUND: Record<KeyScope, readonly KeyScope[]> = {
  everywhere: [],
  inbox: ['everywhere'],
  // While reasons are asked, the digits choose among these alone.
  batch: ['inbox', 'everywhere'],
  draft: ['inbox', 'everywhere'],
  editor: [],
  rejecting: ['draft', 'inbox', 'everywhere'],
  call: ['inbox', 'everywhere'],
  callEditor: [],
  reply: ['inbox', 'everywhere'],
  doubt: ['inbox', 'everywhere'],
  replyEditor: [],
  playbook: ['inbox', 'everywhere'],
  toolChange: ['inbox', 'everywhere'],
  dialog: [],
}

/** Pairs of shortcuts of which a key could mean either, as sentences. */
export const clashesIn = (list: Record<string, Shortcut>): string[] => {
  const all = Object.entries(list)
  return all.flatMap(([id, one], index) =>
    all.slice(index + 1).flatMap(([other, two]) => {
      const meet =
        one.scope === two.scope ||
        AROUND[one.scope].includes(two.scope) ||
        AROUND[two.scope].includes(one.scope)
      const same = one.chord.startsWith(two.chord) || two.chord.startsWith(one.chord)
      return meet && same && begins(one.chord, two.chord)
        ? [`${id} and ${other} are both ${one.chord}`]
        : []
    }),
  )
}

/** Whether one is the other, or its first key. */
const begins = (one: string, other: string): boolean => {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return long === short || long.startsWith(`${short} `)
}

/** For `aria-keyshortcuts`, which knows no keys one after another. */
export const ariaKeys = (id: ShortcutId): string | undefined => {
  const { chord } = shortcuts[id]
  if (chord.includes(' ')) return undefined
  return chord.startsWith('Mod+')
    ? `${chord.replace('Mod', 'Control')} ${chord.replace('Mod', 'Meta')}`
    : chord
}

const NAMES: Record<string, string> = {
  Enter: '↵',
  Escape: 'Esc',
  Shift: '⇧',
}

/** The keys of a chord as people read them: `⌘ K`. */
export const keysShown = (chord: string, isMac: boolean): string[] =>
  chord.split(/[ +]/).map((key) => (key === 'Mod' ? (isMac ? '⌘' : 'Ctrl') : (NAMES[key] ?? key)))

export interface Pressed {
  key: string
  shift: boolean
  /** ⌘ or Ctrl. */
  mod: boolean
  alt: boolean
}

/** The chord of a key event; undefined if it is none of ours. */
export const chordOf = ({ key, shift, mod, alt }: Pressed): string | undefined => {
  if (alt || ['Shift', 'Control', 'Meta', 'Alt'].includes(key)) return undefined
  const name = key === ' ' ? 'Space' : key.length === 1 ? key.toUpperCase() : key
  const isLetter = /^\p{L}$/u.test(name) || name.length > 1
  return `${mod ? 'Mod+' : ''}${shift && isLetter ? 'Shift+' : ''}${name}`
}
