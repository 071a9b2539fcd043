/** A row of the document's tables of endpoints, and how each of its codes comes about. */
import type { Reply } from '#test/support/app'
import type { Place } from './place.ts'

/**
 * The answer, by the code that it must have. Codes that come about alike everywhere, 401 and 404,
 * are not named here.
 */
export type Calls = Partial<Record<number, () => Promise<Pick<Reply, 'status' | 'text'>>>>

export interface Row {
  /** A body that is valid, for the requests that every row gets. */
  body?: object
  /** A path parameter that is well formed and names nothing, in the place of a new uuid. */
  unknown?: string
  calls(place: Place): Calls | Promise<Calls>
}

/** `POST /api/v1/documents` → how to call it. */
export type Rows = Record<string, Row>
