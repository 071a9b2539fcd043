/** What a network marks in a text of ours, and shows beside it. */
import { type Static, Type as T } from '@sinclair/typebox'
import { markUntrusted, nullable, record, untrustedName } from '../../shapes.ts'

/** With this many people, no more of a text are looked up. */
export const MOST_MENTIONS = 10
export const LONGEST_CARD = { title: 200, description: 300 } as const

const Mention = record({
  handle: T.String({ description: 'Without the @ that it has in the text.' }),
  id: untrustedName(T.String({ description: "The network's id of whoever has the handle." })),
})

const LinkCard = record(
  {
    url: T.String({ description: 'The first link of the text.' }),
    title: markUntrusted(T.String()),
    description: markUntrusted(T.String()),
  },
  { description: "What the first link's page says of itself." },
)

/** In a text for an account: what a network has to be asked for, or a page. */
const found = { mentions: T.Array(Mention, { maxItems: MOST_MENTIONS }), card: nullable(LinkCard) }

const language = nullable(
  T.String({ description: "The profile's language at the approval; null before." }),
)

/** As an approval binds them. */
export const MarksSchema = record(
  { ...found, language },
  {
    title: 'Marks',
    description:
      'What the post has beside its text: the people whom it mentions, and a card for its first link. They are looked up after the text is written; an approval covers those that it finds.',
  },
)

/** As they are kept: with the text, by its SHA-256, and the account that they were made for. */
export const KeptMarks = T.Object({ text: T.String(), account: T.String(), ...found, language })

const Found = T.Object(found)

export type FoundMarks = Static<typeof Found>
export type Marks = Static<typeof MarksSchema>
export type KeptMarks = Static<typeof KeptMarks>
