"""Who there is: accounts, people with a role in them, agents and the keys they come with."""

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac


class Account(models.Model):
    """One tenant. Everything belongs to exactly one."""

    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    # The policy this account learns by: the values that differ from the default of that name (RULES.md).
    policy_version = models.PositiveIntegerField(default=1)
    policy_values = models.JSONField(default=dict, blank=True)
    # Whoever looks at this account has to have a second factor.
    second_factor_required = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return self.slug


class Person(AbstractUser):
    """Somebody who logs in; what they may do is a matter of their role in each account."""

    # Part of what a session is bound to: another salt ends every session there is.
    session_salt = models.CharField(max_length=32, default="", db_default="", blank=True)
    # The e-mail address, in small letters, by which OpenID Connect knows them at first; an admin answers for it.
    known_email = models.CharField(max_length=254, default="", db_default="", blank=True)

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["known_email"], condition=~Q(known_email=""), name="an_email_is_known_of_one_person"
            ),
        ]

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        bound = self.password + self.session_salt
        return salted_hmac("senselab.accounts.session", bound, secret=secret, algorithm="sha256").hexdigest()

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


class SignIn(models.Model):
    """One sign-in of a person: the session it began, when and from where."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="sign_ins")
    session_key = models.CharField(max_length=40, unique=True)
    at = models.DateTimeField()
    address = models.GenericIPAddressField(null=True)
    browser = models.CharField(max_length=200, default="")

    def __str__(self) -> str:
        return f"sign-in of {self.person}"


class Identity(models.Model):
    """Who a person is to a provider of OpenID Connect: its own, lasting id of them."""

    class Link(models.TextChoices):
        EMAIL = "email"
        JOINED = "joined"
        PERSON = "person"

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="identities")
    issuer = models.TextField()
    subject = models.CharField(max_length=255)
    linked_by = models.CharField(max_length=10, choices=Link.choices)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="an_identity_is_one_persons"),
            models.CheckConstraint(
                condition=Q(linked_by__in=["email", "joined", "person"]), name="an_identity_has_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} at {self.issuer}"


class Role(models.TextChoices):
    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class Membership(models.Model):
    """A person's role in an account."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "person"], name="a_person_has_one_role_in_an_account"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="a_role_is_viewer_reviewer_or_admin"),
        ]

    def __str__(self) -> str:
        return f"{self.person} is {self.role} in {self.account}"


class Invitation(models.Model):
    """A way into an account for whoever has its link: once, for a while."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invitations")
    token_sha256 = models.BinaryField(max_length=32)
    role = models.CharField(max_length=10, choices=Role.choices)
    # Whom it is meant for, in the words of who made it.
    note = models.CharField(max_length=200, default="", blank=True)
    made_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    accepted_by = models.CharField(max_length=150, default="", blank=True)

    class Meta:
        constraints = [
            # Looked up before the account is known, so this one unique key stands without it.
            models.UniqueConstraint(fields=["token_sha256"], name="an_invitation_is_found_by_its_token"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="an_invitation_gives_a_role"),
        ]

    def __str__(self) -> str:
        return f"{self.role} for {self.note}"


class Agent(models.Model):
    """A program that writes under an agent_id; it comes into being with its first write."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="agents")
    agent_id = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    last_active_at = models.DateTimeField(db_default=Now())
    display_name = models.TextField(default="", db_default="", blank=True)
    profile = models.JSONField(default=dict, db_default={}, blank=True)
    # What it says it can do, and what it binds its own writes to (contract.md 1.11).
    capabilities = models.JSONField(default=list, db_default=[], blank=True)
    contracts = models.JSONField(default=list, db_default=[], blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "agent_id"], name="an_agent_is_known_once_in_an_account"),
        ]

    def __str__(self) -> str:
        return self.agent_id


class Scope(models.TextChoices):
    READ = "read"
    WRITE = "write"
    REVIEW = "review"
    ADMIN = "admin"


class ApiKey(models.Model):
    """What an agent or a tool proves itself with: a public id to find it by and the hash of a 256-bit secret."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="keys")
    public_id = models.CharField(max_length=16)
    secret_sha256 = models.BinaryField(max_length=32)
    name = models.CharField(max_length=200)
    agent_id = models.TextField(default="", blank=True, help_text="The one agent this key may speak for; empty: any.")
    scopes = ArrayField(models.CharField(max_length=10))
    rate_per_minute = models.PositiveIntegerField(default=6000)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.GenericIPAddressField(null=True, blank=True)
    # Entity paths it reaches, [{pattern, permission}]; none: all of them.
    globs = models.JSONField(default=list, db_default=[], blank=True)
    # The secret before the last rotation, and until when it still works.
    old_secret_sha256 = models.BinaryField(max_length=32, null=True, blank=True)
    old_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            # Looked up before the account is known, so this one unique key stands without it.
            models.UniqueConstraint(fields=["public_id"], name="a_key_is_found_by_its_public_id"),
            models.CheckConstraint(
                condition=Q(scopes__contained_by=Scope.values) & Q(scopes__len__gte=1),
                name="scopes_are_read_write_review_or_admin",
            ),
            models.CheckConstraint(condition=Q(rate_per_minute__gte=1), name="a_key_may_call_at_least_once_a_minute"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.public_id})"


class KeptAnswer(models.Model):
    """The answer to a call with an Idempotency-Key, kept for 24 hours so that a repeat gets the same one."""

    pk = models.CompositePrimaryKey("account_id", "key_id", "route", "idempotency_key")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+", db_index=False)
    route = models.TextField()
    idempotency_key = models.TextField()
    body_sha256 = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index("created_at", name="kept_answers_by_age")]

    def __str__(self) -> str:
        return f"answer {self.status} of {self.route}"


class AuditRecord(models.Model):
    """Something that happened to an account and is no change set: append-only, sealed in order a moment later."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    at = models.DateTimeField()
    action = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=10)
    actor = models.TextField(default="")
    target = models.TextField(default="")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    address = models.GenericIPAddressField(null=True)
    request_id = models.CharField(max_length=64, default="")
    # How often it happened within a minute, where one record stands for many.
    count = models.PositiveIntegerField(default=1)
    salt = models.BinaryField(max_length=16)
    # Its place in the chain of its account and the hash that holds it there; null until it is sealed.
    number = models.BigIntegerField(null=True)
    digest = models.BinaryField(max_length=32, null=True)
    seal = models.BinaryField(max_length=32, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "number"], name="a_place_in_the_trail_is_taken_once"),
            models.CheckConstraint(
                condition=Q(number__isnull=True, digest__isnull=True, seal__isnull=True)
                | Q(number__isnull=False, digest__isnull=False, seal__isnull=False),
                name="a_record_is_sealed_whole_or_not",
            ),
        ]
        indexes = [
            models.Index("account", "id", condition=Q(seal__isnull=True), name="records_to_seal"),
            models.Index("account", "action", F("id").desc(), name="records_by_action"),
            models.Index("account", "actor", F("id").desc(), name="records_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"
