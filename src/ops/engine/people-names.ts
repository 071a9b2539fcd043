/**
 * Who sees the names of the people of a workspace beside what they wrote and decided: those who may
 * list its members, which are people who are signed in. Keys and the agent see the ids alone. Names
 * of keys are no names of people.
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { NamedAuthorSchema } from '#contract/shapes'
import type { QueryContext } from './call.ts'
import { rewriting } from './rewriting.ts'

export const seesNames = ({ principal, job }: Pick<QueryContext, 'principal' | 'job'>): boolean =>
  job === undefined && (principal.kind === 'session' || principal.kind === 'system')

const authors = rewriting<Static<typeof NamedAuthorSchema>>(
  ({ title }) => title === NamedAuthorSchema.title,
)

/** A copy of a reply in which people have no names. */
export const withoutNames = (schema: TSchema, value: unknown): unknown =>
  authors(schema, value, (author) =>
    author.kind === 'person' ? { ...author, name: null } : author,
  )
