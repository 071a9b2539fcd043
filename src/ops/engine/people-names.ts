/**
 * Who sees the names of the people of a workspace beside what they wrote and decided: those who may
 * list its members, which are people who are signed in. Keys and the agent see the ids alone. Names
 * of keys are no names of people.
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { SourceSchema } from '#contract/records/growth/source'
import { NamedAuthorSchema } from '#contract/shapes'
import { auditActor } from '#store/engine/principal'
import type { QueryContext } from './call.ts'
import { rewriting } from './rewriting.ts'

export const seesNames = ({ principal, job }: Pick<QueryContext, 'principal' | 'job'>): boolean =>
  job === undefined && (principal.kind === 'session' || principal.kind === 'system')

type Named = Pick<Static<typeof NamedAuthorSchema>, 'name'> & { kind: string; id: string | null }

const authors = rewriting<Named>(
  ({ title }) => title === NamedAuthorSchema.title || title === SourceSchema.title,
)

/** A copy of a reply in which people have no names. */
export const withoutNames = (schema: TSchema, value: unknown): unknown =>
  authors(schema, value, (author) =>
    author.kind === 'person' ? { ...author, name: null } : author,
  )

/**
 * A copy of a command's reply in which the caller has a name: the records that it changes were read
 * before it named the caller.
 */
export const withCallersName = (
  schema: TSchema,
  value: unknown,
  { principal }: Pick<QueryContext, 'principal'>,
): unknown => {
  const { name } = principal
  if (name === undefined) return value
  const { kind, id } = auditActor(principal)
  return authors(schema, value, (author) =>
    author.kind === kind && author.id === id ? { ...author, name } : author,
  )
}
