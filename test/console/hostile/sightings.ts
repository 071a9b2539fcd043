/** What a walk has met, and what it has missed. */
import type { Given } from './answers.ts'
import { shownFields, wholeFields } from './fields.ts'
import { formFields } from './forms.ts'

/** What a look at a page found. */
export interface Looked {
  flaws: string[]
  /** Fields of which something is shown. */
  seen: string[]
  /** Fields whose end is shown. */
  whole: string[]
}

export interface Sightings {
  seen: Set<string>
  /** `item.body at 320 px` */
  whole: Set<string>
  /** Fields of forms. */
  filled: Set<string>
  given: Given
}

export const newSightings = (): Sightings => ({
  seen: new Set(),
  whole: new Set(),
  filled: new Set(),
  given: new Map(),
})

/** Strings that the server makes itself, or takes from a list of its own. */
const NOT_FREE: readonly RegExp[] = [
  /\.(id|external_id|externalId|next_cursor|last4|routingKey|credentials\.name|config\.name)$/,
  /\.(content_hash|contentHash|hash|mark|sha256)$/,
  /\.(network|channel|counting|actions|days|times|format|hook|module|model|status|type)$/,
  /\.(kind|operation|surface|taint|why)$/,
  // An account by the network's id of it.
  /^Item(WithWay)?\.account$/,
  // Of tools: what a model calls them by, and which argument is their text.
  /\.(tool_name|toolPrefix|ownName|textField)$/,
  /^(DefinedAgentTool|McpTool|AgentStep|GrowthChannel)\.(name|title)$/,
  // Our own words and addresses.
  /^Channel(Adapter|Setup)\./,
  /^(AgentApproval|ChannelReply)\.url$/,
  /\.warnings\.message$/,
  // An address that mail has reached.
  /^ApiKey\.person\.email$/,
]

/** Fields that the walk missed: what it says of the others then holds for a part only. */
export const unseenIn = (
  { seen, whole, filled, given }: Sightings,
  widths: readonly number[],
): string[] => [
  ...shownFields.filter((field) => !seen.has(field)).map((field) => `${field} was seen nowhere`),
  ...wholeFields
    .filter((field) => seen.has(field))
    .flatMap((field) => widths.map((width) => `${field} at ${width} px`))
    .filter((place) => !whole.has(place))
    .map((place) => `${place} is cut off wherever it is`),
  ...formFields.filter((name) => !filled.has(name)).map((name) => `"${name}" was filled nowhere`),
  ...[...filled]
    .filter((name) => !formFields.includes(name))
    .map((name) => `"${name}" is no field of the table`),
  ...[...given]
    .filter(([name, wasHostile]) => !wasHostile && !NOT_FREE.some((one) => one.test(name)))
    .map(([name]) => `${name} of the answers was never hostile`),
]
