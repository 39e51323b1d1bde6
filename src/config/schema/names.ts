/** Names that an operator chooses: of sources, credentials and tokens. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const NAME_EXPECTED =
  'a name of lower-case letters, digits and hyphens, at most 63, beginning with a letter or digit';
