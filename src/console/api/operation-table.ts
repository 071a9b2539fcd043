/** Runs as the console is built, so that the browser gets a table instead of the contract. */
import { operations } from '#contract/index'

/** The roles are those besides owner; `body` is the field that is the whole body, if one is. */
export type OperationRow = [
  id: string,
  method: string,
  path: string,
  kind: string,
  roles: string[],
  body?: string,
]

export const operationTable = (): OperationRow[] =>
  operations.map(({ id, method, path, kind, roles, body }) =>
    body === undefined
      ? [id, method, path, kind, [...roles]]
      : [id, method, path, kind, [...roles], body],
  )
