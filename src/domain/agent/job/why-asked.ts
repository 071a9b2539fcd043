/** Why a person is asked about a call, in words. Pure. */

const REASONS: Record<string, string> = {
  publishes: 'It publishes, now or at the time that it names',
  approves: 'It approves what can then be published',
  'changes the workspace': 'It changes how the workspace works',
  role: 'The agent, on behalf of whoever asked it, cannot do this itself',
  'your rule': 'A rule of this workspace asks for it',
  'leaves the workspace': 'It changes something outside the workspace',
}

/** A reason of an approval's `why`. */
export const reasonText = (why: string): string =>
  REASONS[why] ?? why.replace(/^untrusted: /, 'The agent has read text from outside: ')
