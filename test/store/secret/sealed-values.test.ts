/** No column with sealed values is missing in the table by which they are sealed anew. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { nameOf, ownSealedValues, sealedValues } from '#store/secret/sealed-values'

/** Columns of bytes that are not sealed, and what they are. */
const unsealed: Record<string, string> = {
  'deployment.canary': 'the mark of the secret key, which changes with it',
  'account_authorization.state_hash': 'a hash',
  'api_key.hash': 'a hash',
  'artifact_share.token_hash': 'a hash',
  'device_grant.device_code_hash': 'a hash',
  'device_grant.user_code_hash': 'a hash',
  'invitation.token_hash': 'a hash',
  'person_reset.token_hash': 'a hash',
  'file.digests': 'digests of its blocks',
  'file_block.bytes': 'a file of a workspace',
}

/** All columns of type `bytea` in the generated schema. */
const bytesIn = (schema: string): string[] =>
  [...schema.matchAll(/^create table public\.(\w+) \(\n(.*?)^\)/gms)].flatMap(
    ([, table, columns]) =>
      [...columns!.matchAll(/^ {2}(\w+) bytea\b/gm)].map(([, column]) => `${table}.${column}`),
  )

test('every column of bytes is sealed anew, or says why not', () => {
  const all = [...sealedValues, ...ownSealedValues]
  const sealed = all.filter(({ form }) => form === 'bytes').map(nameOf)
  const found = bytesIn(readFileSync('sql/schema.sql', 'utf8'))
  expect(found.toSorted()).toEqual([...sealed, ...Object.keys(unsealed)].toSorted())
})
